// What the engine asks of the operating system, passed in so that tests pass fakes. Nothing here is global.
#pragma once

#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

struct Environment {
    const sys::Clock& clock;
    sys::ProcessProbe& probe;
};

}  // namespace memsweep::engine
