// The only header of the CUDA backend that includes the runtime library's headers. Compiled with MEMSWEEP_HIP, the same
// sources call HIP, AMD's library. HIP's functions have CUDA's names with another prefix (hip_names.hpp); the functions
// below hide all other differences. The HIP backend compiles but has never run, because no device was available.
//
// Sources  CUDA Runtime API 12 and 13; HIP 5.2 (hip_runtime_api.h), whose flags and enumerators mean what CUDA's mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#ifdef MEMSWEEP_HIP
#define MEMSWEEP_API hip  // the namespace of the backend
#include <hip/hip_runtime_api.h>

#include "core/device/cuda/hip_names.hpp"
#else
#define MEMSWEEP_API cuda
#include <cuda_runtime_api.h>
#endif

namespace memsweep::device::MEMSWEEP_API {

#ifdef MEMSWEEP_HIP
inline constexpr const char* api_name = "hip";
inline constexpr const char* api_words = "HIP (compiled, never run)";
inline constexpr const char* management_library = nullptr;  // AMD's library has a different interface

[[nodiscard]] inline std::string architecture_of(const hipDeviceProp_t& properties)
{
    return properties.gcnArchName;
}
#else
inline constexpr const char* api_name = "cuda";
inline constexpr const char* api_words = "CUDA";
inline constexpr const char* management_library = "libnvidia-ml.so.1";

[[nodiscard]] inline std::string architecture_of(const cudaDeviceProp& properties)
{
    return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
}
#endif

// A Place says where managed memory shall go: to a device or to the host. prefetch_to_host() asks for a NUMA node of
// the host if this version of the library can do so. If the driver refuses the node, the memory goes to the host
// without a request for a node.
#if CUDART_VERSION >= 13000
using Place = cudaMemLocation;
[[nodiscard]] inline Place on_device(int device) noexcept
{
    Place place{};
    place.type = cudaMemLocationTypeDevice;
    place.id = device;
    return place;
}
[[nodiscard]] inline Place on_host() noexcept
{
    Place place{};
    place.type = cudaMemLocationTypeHost;
    return place;
}
inline cudaError_t prefetch(const void* managed, std::size_t bytes, Place to, cudaStream_t stream) noexcept
{
    return cudaMemPrefetchAsync(managed, bytes, to, 0, stream);
}
inline cudaError_t prefetch_in_place(const void* managed, std::size_t bytes, cudaMemLocation to,
                                     cudaStream_t stream) noexcept
{
    return prefetch(managed, bytes, to, stream);
}
#else
using Place = int;
[[nodiscard]] inline Place on_device(int device) noexcept
{
    return device;
}
[[nodiscard]] inline Place on_host() noexcept
{
    return cudaCpuDeviceId;
}
inline cudaError_t prefetch(const void* managed, std::size_t bytes, Place to, cudaStream_t stream) noexcept
{
    return cudaMemPrefetchAsync(managed, bytes, to, stream);
}
#if CUDART_VERSION >= 12020
inline cudaError_t prefetch_in_place(const void* managed, std::size_t bytes, cudaMemLocation to,
                                     cudaStream_t stream) noexcept
{
    return cudaMemPrefetchAsync_v2(managed, bytes, to, 0, stream);
}
#endif
#endif

inline cudaError_t prefetch_to_host(const void* managed, std::size_t bytes,
                                    [[maybe_unused]] std::optional<std::uint32_t> node, cudaStream_t stream) noexcept
{
#if CUDART_VERSION >= 12020
    if (node) {
        cudaMemLocation place{};
        place.type = cudaMemLocationTypeHostNuma;
        place.id = static_cast<int>(*node);
        if (prefetch_in_place(managed, bytes, place, stream) == cudaSuccess) {
            return cudaSuccess;
        }
        static_cast<void>(cudaGetLastError());
    }
#endif
    return prefetch(managed, bytes, on_host(), stream);
}

}  // namespace memsweep::device::MEMSWEEP_API
