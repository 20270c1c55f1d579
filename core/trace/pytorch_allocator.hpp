// Simulates PyTorch's caching allocator for CUDA devices, without a device. It says what the allocator reserves for a
// program's requests under given settings.
//
// Sizes are rounded up to 512 B, or to steps between powers of two. Blocks up to 1 MiB come from segments of 2 MiB,
// blocks below 10 MiB from segments of 20 MiB; larger ones have segments of their own in steps of 2 MiB. A request
// takes the smallest cached block of its stream and pool that fits; of equal ones, the lowest. Expandable segments grow
// by pages of 2 and 20 MiB instead. If a segment would exceed the capacity, cached ones are given back first.
//
// Units    bytes.
// Sources  c10/cuda/CUDACachingAllocator.cpp of github.com/pytorch/pytorch, read at commit 001074d25084; held to
//          figures of PyTorch 2.11.0 on an H200 (results/reference/gpu_h200/pytorch_settings.json).
// Cost     0.1 to 0.3 us an operation of the recorded runs of tests/trace/pytorch (2-core virtual machine).
// Memory   120 bytes a block, cached or not.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/pytorch_ops.hpp"
#include "core/trace/pytorch_settings.hpp"

namespace memsweep::trace {

// The first request for which the capacity has no room. It is not known what the program does then. It may end, or go
// on with less, as cuDNN does with other algorithms.
struct PyTorchFailure {
    std::uint64_t event{};
    std::uint64_t size{};            // as it was asked for
    std::uint64_t segment{};         // what it would have taken from the device
    std::uint64_t live{};            // rounded, without blocks that were freed and that a stream still uses
    std::uint64_t reserved{};        // after everything possible was given back
    std::uint64_t largest_cached{};  // of its stream and pool
};

struct PyTorchPoint {
    std::uint64_t event{};
    std::uint64_t reserved{};
    std::uint64_t allocated{};
};

struct PyTorchOutcome {
    std::uint64_t reserved_peak{};
    std::uint64_t allocated_peak{};  // what torch.cuda.max_memory_allocated() tells; includes rounding
    std::uint64_t reserved_end{};
    std::uint64_t retries{};        // how often all that is cached was given back; the device stands still for it
    std::uint64_t device_allocs{};  // cudaMalloc, or memory mapped
    std::uint64_t device_frees{};
    std::optional<PyTorchFailure> failure;  // the simulation ends there
    std::vector<PyTorchPoint> curve;        // the highest values of as many stretches as were asked for
};

// `capacity` is what torch.cuda.set_per_process_memory_fraction() leaves to PyTorch; empty: all it wants, up to 64 PiB.
[[nodiscard]] PyTorchOutcome simulate(const PyTorchOps& ops, const PyTorchSettings& settings,
                                      std::optional<std::uint64_t> capacity, std::size_t points = 0);

}  // namespace memsweep::trace
