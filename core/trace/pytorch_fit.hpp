// Finds the settings of PyTorch's caching allocator that suit a program: simulates each on its trace, and names the
// best.
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
    std::size_t best{};            // 0: nothing is worth a change
};

// A setting must save a segment of 20 MiB, or 1 %, before it is worth a word.
inline constexpr std::uint64_t least_saving = 20 * mib;
inline constexpr double least_saving_share = 0.01;

// Tries the settings that are usual for the sizes of the trace, and `also`. With a capacity it also tries the
// collection of garbage. With a capacity, the best setting is one that has room for all; of these, one that never has
// to stop the device; of these, the smallest.
[[nodiscard]] PyTorchFit fit_pytorch(const PyTorchOps& ops, std::optional<std::uint64_t> capacity,
                                     std::span<const PyTorchSettings> also, std::size_t curve_points = 0);

}  // namespace memsweep::trace
