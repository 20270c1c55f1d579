// The CUDA devices of this machine, and how the runtime's failures become errors.
//
// Cost     without a driver 80 us; with one, what cudaGetDeviceCount needs to load it.
#pragma once

#include <vector>

#include <cuda_runtime_api.h>

#include "core/base/expected.hpp"
#include "core/device/cuda/nvml.hpp"
#include "core/device/facts.hpp"

namespace memsweep::device::cuda {

struct FoundDevice {
    DeviceFacts facts;
    bool has_managed{};
    bool has_pools{};  // stream-ordered memory
    bool can_register{};
    std::vector<std::string> nvlinks;  // addresses of their other ends
};

// not_supported: no driver, one too old, or no device.
[[nodiscard]] base::Expected<int> count_devices();
[[nodiscard]] base::Expected<std::vector<FoundDevice>> describe_devices(int count, const Nvml& nvml);

// device: "cudaMalloc: cudaErrorMemoryAllocation (out of memory)"; budget where that is what it says.
[[nodiscard]] base::Error failure(const char* call, cudaError_t code);
[[nodiscard]] inline base::Expected<void> outcome(const char* call, cudaError_t code)
{
    return code == cudaSuccess ? base::Expected<void>{} : base::fail(failure(call, code));
}

}  // namespace memsweep::device::cuda
