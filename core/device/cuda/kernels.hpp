// Functions that queue the kernels of devices.
//
// Units    bytes; addresses that the device reaches.
//
// Errors   what cudaGetLastError says of the launch.
//
// Sources  the latch: a kernel that polls a word of host memory, so that nothing of the cost of queueing lies between
//          events; the method of nvbandwidth (NVIDIA), with a timeout that is reported.
#pragma once

#include <cstdint>

#include "core/device/cuda/api.hpp"
#include "core/device/pattern.hpp"

namespace memsweep::device::MEMSWEEP_API {

// Blocks of each kernel that a device runs at a time.
struct Grids {
    unsigned copy{1};
    unsigned pattern{1};
    unsigned check{1};
};

// Loads every kernel for the current device now, because loading waits for the device, which a latch may be holding
// later. Works out the grids now too, because asking for attributes and occupancy costs as much as a small launch.
[[nodiscard]] cudaError_t preload_kernels(Grids& grids);

// `most_blocks`: the kernel's value in the Grids of the stream's device.
[[nodiscard]] cudaError_t queue_copy(cudaStream_t stream, unsigned most_blocks, void* to, const void* from,
                                     std::uint64_t bytes);
[[nodiscard]] cudaError_t queue_pattern(cudaStream_t stream, unsigned most_blocks, void* to, std::uint64_t bytes,
                                        Pattern pattern);
// Writes the number of words that differ into found[0], and the lowest of them into found[1]. Before the call these
// must be 0 and the largest number.
[[nodiscard]] cudaError_t queue_check(cudaStream_t stream, unsigned most_blocks, const void* from, std::uint64_t bytes,
                                      Pattern pattern, unsigned long long* found);
// One thread loads so many times, first at the offset *place; each load gives the offset of the next. *place becomes
// the offset at which they ended.
[[nodiscard]] cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place);
// Holds the stream until *word is `expected`. After ten seconds the stream goes on, and *gave_up becomes `expected`.
[[nodiscard]] cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                                      volatile std::uint64_t* gave_up);

}  // namespace memsweep::device::MEMSWEEP_API
