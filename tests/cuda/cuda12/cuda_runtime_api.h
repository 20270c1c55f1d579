// Where the runtime library of CUDA 12 differs from that of 13, as far as the backend calls it: its version and three
// declarations, over the header of the toolkit that is installed. So the backend is compiled as a toolkit of CUDA 12
// would compile it, without one.
//
// Sources  CUDA Runtime API 12.8 (cuda_runtime_api.h).
#pragma once

#define cudaMemPrefetchAsync cudaMemPrefetchAsync_of_13
#define cudaMemAdvise cudaMemAdvise_of_13
#include_next <cuda_runtime_api.h>
#undef cudaMemPrefetchAsync
#undef cudaMemAdvise

#undef CUDART_VERSION
#define CUDART_VERSION 12080
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2

extern "C" {
cudaError_t cudaMemPrefetchAsync(const void* data, size_t bytes, int device, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_v2(const void* data, size_t bytes, cudaMemLocation place, unsigned flags,
                                    cudaStream_t stream);
cudaError_t cudaMemAdvise(const void* data, size_t bytes, cudaMemoryAdvise advice, int device);
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device);
}
