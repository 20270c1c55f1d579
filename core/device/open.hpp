// Opens the runtime of this machine's accelerators on request, never at start-up. If there is no driver, this attempt
// is harmless and cheap.
//
// Cost     under a millisecond without a driver (a library fails to load); about 20 ms with PoCL.
//
// Errors   open_cuda, open_hip, open_opencl: not_supported; the message says what is missing: the backend in this
//          build, a driver, or a device.
//
// Threads  A driver may start threads. So open a runtime only after the last fork of this process.
#pragma once

#include <memory>

#include "core/device/runtime.hpp"

namespace memsweep::device {

[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_cuda();
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_hip();  // compiled, never run
[[nodiscard]] base::Expected<std::unique_ptr<Runtime>> open_opencl();

// Returns a runtime without a device. Each of its calls returns the error not_supported with this reason.
[[nodiscard]] std::unique_ptr<Runtime> no_runtime(std::string reason);

// Returns the first runtime that has a device, in the order CUDA, HIP, OpenCL. If none of the three has a device,
// returns a runtime without a device, whose absence() gives the reasons for CUDA and OpenCL.
[[nodiscard]] std::unique_ptr<Runtime> open_runtime();

}  // namespace memsweep::device
