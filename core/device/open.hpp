// Opens the runtime of this machine's accelerators when it is asked for, never at start-up. Without a driver that is
// harmless and cheap.
//
// Cost     without a driver under a millisecond (a library that cannot be loaded); with PoCL about 20 ms.
//
// Errors   open_cuda, open_hip, open_opencl: not_supported, with what is missing: the backend in this build, a driver,
//          a device.
//
// Threads  A driver may start threads: open it after every fork, never before.
#pragma once

#include <memory>

#include "core/device/runtime.hpp"

namespace memsweep::device {

[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_cuda();
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_hip();  // compiled, never run
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_opencl();

// A runtime without a device, whose every call answers not_supported with this reason.
[[nodiscard]] std::unique_ptr<Runtime> no_runtime(std::string reason);

// The first runtime that has a device: CUDA, then HIP, then OpenCL. If none has, a runtime without a device, whose
// absence() gives the reason of each.
[[nodiscard]] std::unique_ptr<Runtime> open_runtime();

}  // namespace memsweep::device
