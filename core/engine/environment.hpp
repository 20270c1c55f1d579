// What the engine asks of the operating system and of drivers, passed in so that tests pass fakes. Nothing here is
// global.
#pragma once

#include "core/engine/devices.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

struct Environment {
    const sys::Clock& clock;
    sys::ProcessProbe& probe;
    Devices* devices{};  // nullptr: none are looked for
};

}  // namespace memsweep::engine
