// Ranks, and what is computed from ranks alone.
//
// Sources  ties share the mean of their ranks; Spearman's rho is Pearson's correlation of the ranks.
// Cost     one sort.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace memsweep::measure {

struct Ranks {
    std::vector<double> rank;  // of each value, from 1
    double tie_term{};         // the sum of t^3 - t over the groups of t equal values; 0 without ties
};

[[nodiscard]] Ranks ranks_of(std::span<const double> values);

// Of the values with their own order: 1 when every repetition is slower than the one before.
// Empty when all values are equal or fewer than two.
[[nodiscard]] std::optional<double> spearman_with_order(std::span<const double> values);

}  // namespace memsweep::measure
