#ifdef MEMSWEEP_HIP
#include <hip/hip_runtime.h>
#endif

#include "core/device/cuda/kernels.hpp"

namespace memsweep::device::MEMSWEEP_API {
// Not unnamed: nvcc would name it after the file's absolute path, and two builds in two folders would differ.
namespace kernels {

constexpr unsigned threads = 512;
constexpr unsigned long long latch_timeout_ns = 10'000'000'000ULL;

__device__ unsigned long long word_at(unsigned long long seed, unsigned long long word)
{
    unsigned long long mixed = seed + (word + 1) * 0x9E3779B97F4A7C15ULL;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
}

__device__ unsigned long long global_index()
{
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ unsigned long long global_size()
{
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

// Eight loads of 16 bytes in flight a thread: a load of another device's or the host's memory takes a microsecond.
__global__ void copy_kernel(uint4* to, const uint4* from, unsigned long long quads)
{
    constexpr int depth = 8;
    const unsigned long long stride = global_size();
    unsigned long long at = global_index();
    for (; at + (depth - 1) * stride < quads; at += depth * stride) {
        uint4 held[depth];
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            held[i] = from[at + i * stride];
        }
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            to[at + i * stride] = held[i];
        }
    }
    for (; at < quads; at += stride) {
        to[at] = from[at];
    }
}

__global__ void pattern_kernel(unsigned long long* to, unsigned long long words, unsigned long long seed,
                               unsigned long long first)
{
    for (unsigned long long at = global_index(); at < words; at += global_size()) {
        to[at] = word_at(seed, first + at);
    }
}

__global__ void check_kernel(const unsigned long long* from, unsigned long long words, unsigned long long seed,
                             unsigned long long first, unsigned long long* found)
{
    unsigned long long wrong = 0;
    unsigned long long lowest = ~0ULL;
    for (unsigned long long at = global_index(); at < words; at += global_size()) {
        if (from[at] != word_at(seed, first + at)) {
            lowest = wrong == 0 ? at : lowest;
            ++wrong;
        }
    }
    if (wrong != 0) {
        atomicAdd(found, wrong);
        atomicMin(found + 1, lowest);
    }
}

__global__ void follow_kernel(const char* chain, unsigned long long loads, unsigned long long* place)
{
    unsigned long long at = *place;
    for (unsigned long long load = 0; load < loads; ++load) {
        at = *reinterpret_cast<const volatile unsigned long long*>(chain + at);
    }
    *place = at;
}

__device__ unsigned long long nanoseconds()
{
#ifdef MEMSWEEP_HIP
    return __builtin_amdgcn_s_memrealtime() * 10;  // of 100 MHz on the devices that this is compiled for
#else
    unsigned long long now = 0;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
#endif
}

__global__ void latch_kernel(const volatile unsigned long long* word, unsigned long long expected,
                             volatile unsigned long long* gave_up)
{
    const unsigned long long begin = nanoseconds();
    while (*word != expected) {
        if (nanoseconds() - begin > latch_timeout_ns) {
            *gave_up = expected;
            __threadfence_system();
            return;
        }
    }
}

// As many as run at a time, but no more than there is work for.
unsigned blocks_for(std::uint64_t items, unsigned most)
{
    const std::uint64_t needed = (items + threads - 1) / threads;
    return needed < most ? static_cast<unsigned>(needed > 0 ? needed : 1) : most;
}

template <typename Kernel>
const void* address_of(Kernel* kernel)
{
    return reinterpret_cast<const void*>(kernel);
}

cudaError_t ask_grid(const void* kernel, int processors, unsigned& blocks)
{
    int resident = 0;
    const cudaError_t code =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), 0);
    blocks = static_cast<unsigned>(processors) * static_cast<unsigned>(resident > 0 ? resident : 1);
    return code;
}

}  // namespace kernels
using namespace kernels;

cudaError_t preload_kernels(Grids& grids)
{
    const void* const all[] = {address_of(copy_kernel), address_of(pattern_kernel), address_of(check_kernel),
                               address_of(latch_kernel), address_of(follow_kernel)};
    for (const void* const kernel : all) {
        cudaFuncAttributes attributes;
        if (const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel); code != cudaSuccess) {
            return code;
        }
    }
    int device = 0;
    int processors = 1;
    cudaError_t code = cudaGetDevice(&device);
    const auto then = [&code](auto call) { code = code == cudaSuccess ? call() : code; };
    then([&] { return cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device); });
    then([&] { return ask_grid(address_of(copy_kernel), processors, grids.copy); });
    then([&] { return ask_grid(address_of(pattern_kernel), processors, grids.pattern); });
    then([&] { return ask_grid(address_of(check_kernel), processors, grids.check); });
    return code;
}

cudaError_t queue_copy(cudaStream_t stream, unsigned most_blocks, void* to, const void* from, std::uint64_t bytes)
{
    const std::uint64_t quads = bytes / sizeof(uint4);
    copy_kernel<<<blocks_for(quads, most_blocks), threads, 0, stream>>>(static_cast<uint4*>(to),
                                                                        static_cast<const uint4*>(from), quads);
    return cudaGetLastError();
}

cudaError_t queue_pattern(cudaStream_t stream, unsigned most_blocks, void* to, std::uint64_t bytes, Pattern pattern)
{
    const std::uint64_t words = bytes / sizeof(unsigned long long);
    pattern_kernel<<<blocks_for(words, most_blocks), threads, 0, stream>>>(static_cast<unsigned long long*>(to), words,
                                                                           pattern.seed, pattern.first_word);
    return cudaGetLastError();
}

cudaError_t queue_check(cudaStream_t stream, unsigned most_blocks, const void* from, std::uint64_t bytes,
                        Pattern pattern, unsigned long long* found)
{
    const std::uint64_t words = bytes / sizeof(unsigned long long);
    check_kernel<<<blocks_for(words, most_blocks), threads, 0, stream>>>(
        static_cast<const unsigned long long*>(from), words, pattern.seed, pattern.first_word, found);
    return cudaGetLastError();
}

cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place)
{
    follow_kernel<<<1, 1, 0, stream>>>(static_cast<const char*>(chain), loads, static_cast<unsigned long long*>(place));
    return cudaGetLastError();
}

cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                        volatile std::uint64_t* gave_up)
{
    latch_kernel<<<1, 1, 0, stream>>>(reinterpret_cast<const volatile unsigned long long*>(word), expected,
                                      reinterpret_cast<volatile unsigned long long*>(gave_up));
    return cudaGetLastError();
}

}  // namespace memsweep::device::MEMSWEEP_API
