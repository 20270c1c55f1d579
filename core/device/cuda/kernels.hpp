// What devices do by kernels, as functions that queue them.
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

// Every kernel, loaded now for the current device: loading waits for the device, which a latch may be holding. Its
// grids are asked for now too, because attributes and occupancy cost as much as a small launch.
[[nodiscard]] cudaError_t preload_kernels(Grids& grids);

// `most_blocks`: of the grids of the stream's device.
[[nodiscard]] cudaError_t queue_copy(cudaStream_t stream, unsigned most_blocks, void* to, const void* from,
                                     std::uint64_t bytes);
[[nodiscard]] cudaError_t queue_pattern(cudaStream_t stream, unsigned most_blocks, void* to, std::uint64_t bytes,
                                        Pattern pattern);
// Into found[0] how many words differ, into found[1] the lowest of them; set to 0 and the largest number before.
[[nodiscard]] cudaError_t queue_check(cudaStream_t stream, unsigned most_blocks, const void* from, std::uint64_t bytes,
                                      Pattern pattern, unsigned long long* found);
// One thread's loads, each of the offset of the next, from *place on; *place becomes where they ended.
[[nodiscard]] cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place);
// Until *word is `expected`; after ten seconds it goes on, and *gave_up becomes `expected`.
[[nodiscard]] cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                                      volatile std::uint64_t* gave_up);

}  // namespace memsweep::device::MEMSWEEP_API
