// The accelerators of a worker: found when a case first needs them, and kept for all that come after it.
//
// Threads  one.
#pragma once

#include <memory>
#include <utility>

#include "core/device/open.hpp"

namespace memsweep::engine {

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

}  // namespace memsweep::engine
