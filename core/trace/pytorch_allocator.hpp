// Simulates PyTorch's caching allocator for CUDA devices, without a device. The result says how much memory the
// allocator would reserve for a program's requests under given settings.
//
// Sizes are rounded up to multiples of 512 B, or to steps between powers of two. Blocks up to 1 MiB come from segments
// of 2 MiB, larger blocks below 10 MiB from segments of 20 MiB. A block of 10 MiB or more has a segment of its own,
// whose size is a multiple of 2 MiB. A request takes the smallest cached block of its stream and pool that is large
// enough. Among blocks of the same size, it takes the one at the lowest address. Expandable segments do not have fixed
// sizes: they grow by pages of 2 MiB (for small blocks) or 20 MiB (for others). If a new segment would exceed the
// capacity, the allocator first gives cached segments back to the device.
//
// Units    bytes.
// Sources  c10/cuda/CUDACachingAllocator.cpp of github.com/pytorch/pytorch, read at commit 001074d25084; checked
//          against figures of PyTorch 2.11.0 on an H200 (results/reference/gpu_h200/pytorch_settings.json).
// Cost     0.1 to 0.3 us per operation, for the recorded runs of tests/trace/pytorch (2-core virtual machine).
// Memory   120 bytes per block, cached or not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/pytorch_ops.hpp"
#include "core/trace/pytorch_settings.hpp"

namespace memsweep::trace {

// The first request that does not fit into the capacity. The simulation cannot know what the program would do next. The
// program may end, or go on with less memory: cuDNN, for example, then chooses other algorithms.
struct PyTorchFailure {
    std::uint64_t event{};
    std::uint64_t size{};            // as requested, before rounding
    std::uint64_t segment{};         // the size of the segment that the request needed from the device
    std::uint64_t live{};            // live bytes, rounded up; without freed blocks that a stream still uses
    std::uint64_t reserved{};        // the bytes reserved after the allocator gave back all that it could
    std::uint64_t largest_cached{};  // the largest cached block of the request's stream and pool
};

struct PyTorchPoint {
    std::uint64_t event{};
    std::uint64_t reserved{};
    std::uint64_t allocated{};
};

struct PyTorchOutcome {
    std::uint64_t reserved_peak{};
    std::uint64_t allocated_peak{};  // as torch.cuda.max_memory_allocated() reports it; includes rounding
    std::uint64_t reserved_end{};
    std::uint64_t retries{};        // how often all cached memory was given back; the device stops its work each time
    std::uint64_t device_allocs{};  // calls of cudaMalloc, or mappings of pages
    std::uint64_t device_frees{};
    std::optional<PyTorchFailure> failure;  // the request that failed, if any; the simulation ends there
    std::vector<PyTorchPoint> curve;        // the highest values in each of `points` equal parts of the run
};

// Runs the simulation. `capacity`: how many bytes torch.cuda.set_per_process_memory_fraction() leaves to PyTorch (64
// PiB if nullopt). `points`: how many points the result's `curve` has at most (no curve if 0).
[[nodiscard]] PyTorchOutcome simulate(const PyTorchOps& ops, const PyTorchSettings& settings,
                                      std::optional<std::uint64_t> capacity, std::size_t points = 0);

}  // namespace memsweep::trace
