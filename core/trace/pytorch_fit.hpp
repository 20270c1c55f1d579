// Finds the settings of PyTorch's caching allocator that suit a program best. Simulates each candidate on the program's
// trace.
//
// Units    bytes.
// Cost     a simulation for each of some 15 settings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/trace/pytorch_allocator.hpp"

namespace memsweep::trace {

struct PyTorchRow {
    PyTorchSettings settings;
    PyTorchOutcome outcome;
};

struct PyTorchFit {
    std::vector<PyTorchRow> rows;  // the first has the default settings
    std::size_t best{};            // the row with the best settings; 0: no change is worthwhile
};

// A change of settings is worthwhile if it saves 20 MiB (one segment) or 1 % of the reserved memory.
inline constexpr std::uint64_t least_saving = 20 * mib;
inline constexpr double least_saving_share = 0.01;

// Tries the usual settings for the sizes in the trace, and those in `also`. With a capacity, it also tries garbage
// collection. The best settings are found by these criteria, in this order:
// - No request fails. If all settings fail, the first failure comes as late as possible.
// - The device never stops to get memory back (PyTorchOutcome::retries).
// - The least memory is reserved, if the saving is worthwhile.
[[nodiscard]] PyTorchFit fit_pytorch(const PyTorchOps& ops, std::optional<std::uint64_t> capacity,
                                     std::span<const PyTorchSettings> also, std::size_t curve_points = 0);

}  // namespace memsweep::trace
