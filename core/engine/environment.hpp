// What the engine asks of the operating system and of drivers, passed in so that tests pass fakes. Nothing here is
// global.
#pragma once

#include <memory>
#include <utility>

#include "core/device/open.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/process_probe.hpp"

namespace memsweep::engine {

// The accelerators of a worker: found when a case first needs them, and kept for all that come after it.
//
// Threads  one.
class Devices {
  public:
    Devices() = default;
    explicit Devices(std::unique_ptr<device::Runtime> runtime) : runtime_{std::move(runtime)} {}

    [[nodiscard]] device::Runtime& runtime()
    {
        if (!runtime_) {
            runtime_ = device::open_runtime();
        }
        return *runtime_;
    }

  private:
    std::unique_ptr<device::Runtime> runtime_;
};

struct Environment {
    const sys::Clock& clock;
    sys::ProcessProbe& probe;
    Devices* devices{};  // nullptr: none are looked for
};

}  // namespace memsweep::engine
