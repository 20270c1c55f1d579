// Functions that queue the kernels of devices.
//
// Units    bytes. Addresses must be accessible to the device.
//
// Errors   what cudaGetLastError returns after the launch.
//
// Sources  nvbandwidth (NVIDIA) for the latch: a kernel that holds a stream until a word of host memory changes, so
//          that the time between events does not include the cost of queueing. Our latch also has a timeout, which is
//          reported.
#pragma once

#include <cstdint>

#include "core/device/cuda/api.hpp"
#include "core/device/pattern.hpp"

namespace memsweep::device::MEMSWEEP_API {

// For each kernel, the number of thread blocks that a device runs at a time.
struct Grids {
    unsigned copy{1};
    unsigned pattern{1};
    unsigned check{1};
};

// Loads every kernel for the current device. Call it before any latch is held: loading a kernel waits for the device,
// so it would wait for the latch, too. Also fills in `grids`. This is not done at each launch, because querying
// attributes and occupancy costs as much as a small launch.
[[nodiscard]] cudaError_t preload_kernels(Grids& grids);

// The functions below queue one kernel each. `most_blocks`: the kernel's value in the Grids of the stream's device.
[[nodiscard]] cudaError_t queue_copy(cudaStream_t stream, unsigned most_blocks, void* to, const void* from,
                                     std::uint64_t bytes);
[[nodiscard]] cudaError_t queue_pattern(cudaStream_t stream, unsigned most_blocks, void* to, std::uint64_t bytes,
                                        Pattern pattern);
// Compares the memory with the pattern. Adds the number of differing words to found[0]. Lowers found[1] to the index of
// the first differing word, if that index is less than found[1]. Before the call, set found[0] to 0 and found[1] to the
// largest value.
[[nodiscard]] cudaError_t queue_check(cudaStream_t stream, unsigned most_blocks, const void* from, std::uint64_t bytes,
                                      Pattern pattern, unsigned long long* found);
// One thread follows a chain by `loads` dependent loads. The first load is at the byte offset *place of the chain; each
// loaded word is the byte offset of the next load. At the end *place is the last loaded offset.
[[nodiscard]] cudaError_t queue_follow(cudaStream_t stream, const void* chain, std::uint64_t loads, void* place);
// Holds the stream until *word equals `expected`. After ten seconds the stream continues anyway, and *gave_up becomes
// `expected`.
[[nodiscard]] cudaError_t queue_latch(cudaStream_t stream, const volatile std::uint64_t* word, std::uint64_t expected,
                                      volatile std::uint64_t* gave_up);

}  // namespace memsweep::device::MEMSWEEP_API
