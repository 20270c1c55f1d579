// Finds the settings of PyTorch's caching allocator that suit a program best. For this, it simulates the allocator on
// the program's trace with different settings.
//
// Units    bytes.
// Cost     one simulation for each choice of settings; there are some 15 choices.
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
    std::size_t best{};            // index of the row with the best settings; 0: no change is worthwhile
};

// A change of settings is worthwhile if it lowers the peak of reserved memory by at least 20 MiB (one segment) or at
// least 1 %.
inline constexpr std::uint64_t least_saving = 20 * mib;
inline constexpr double least_saving_share = 0.01;

// Tries settings that are usual for the request sizes in the trace, and the settings in `also`. If the device's
// capacity is given, it also tries garbage collection. `curve_points`: if not 0, the outcomes of the default and of the
// best settings have a curve with up to this many points. The best settings are found by these criteria, in this order:
// - No request fails. If all settings fail, the first failure comes as late as possible.
// - The device never stops to get memory back (PyTorchOutcome::retries).
// - The least memory is reserved, if the saving is worthwhile.
[[nodiscard]] PyTorchFit fit_pytorch(const PyTorchOps& ops, std::optional<std::uint64_t> capacity,
                                     std::span<const PyTorchSettings> also, std::size_t curve_points = 0);

}  // namespace memsweep::trace
