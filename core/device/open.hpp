// Which runtime answers for this machine's accelerators. Found when asked for, never at start-up; harmless, and cheap,
// where there is no driver.
//
// Cost     without a driver under a millisecond (a library that cannot be loaded); with PoCL about 20 ms.
// Errors   of the single backends: not_supported, with what is missing: the backend in this build, a driver, a device.
// Threads  a driver may start some: open it after every fork, never before.
#pragma once

#include <memory>

#include "core/device/runtime.hpp"

namespace memsweep::device {

[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_cuda();
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_opencl();

// One without a device, whose every call answers not_supported with this reason.
[[nodiscard]] std::unique_ptr<Runtime> no_runtime(std::string reason);

// The first that has a device, CUDA before OpenCL; none of them: one without, whose absence() has the reason of each.
[[nodiscard]] std::unique_ptr<Runtime> open_runtime();

}  // namespace memsweep::device
