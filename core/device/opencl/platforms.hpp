// The platforms of this machine's OpenCL drivers and their devices.
//
// Cost     loads every driver that is installed: 16 ms for PoCL.
#pragma once

#include <vector>

#include "core/device/facts.hpp"
#include "core/device/opencl/library.hpp"

namespace memsweep::device::opencl {

struct FoundDevice {
    cl_platform_id platform{};
    cl_device_id id{};
    DeviceFacts facts;
    bool has_fine_grained_svm{};  // one address for both sides without calls to map it
};

// not_supported: no driver, or none that has a device.
[[nodiscard]] base::Expected<std::vector<FoundDevice>> find_devices(const Library& api);

}  // namespace memsweep::device::opencl
