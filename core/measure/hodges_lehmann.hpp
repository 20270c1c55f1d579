// How far one sample is shifted against another: the Hodges-Lehmann estimate with its exact interval.
//
// Units    a ratio candidate / base, 1 meaning no change; a difference candidate - base, in the values' unit, when a
//          value is 0 or negative and ratios mean nothing.
// Sources  Hodges and Lehmann 1963: the median of all pairwise shifts; the interval is the pair of order statistics of
//          the same shifts at the critical value of U, so that it excludes "no change" exactly when the test does.
// Cost     both samples are sorted, and of their n m shifts those that are asked for found by halving, in at most 64
// passes
//          over n + m values each; U's distribution is counted up to largest_exact_product.
// Memory   n + m values.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace memsweep::measure {

struct Shift {
    bool is_ratio{};
    double estimate{};
    std::optional<std::array<double, 2>> interval;  // 95 %; empty when so few values cannot reach it (3 against 3)
};

// Both samples hold at least one value.
[[nodiscard]] Shift hodges_lehmann(std::span<const double> base, std::span<const double> candidate);

// The k of the interval d(k)..d(n m + 1 - k) of the sorted shifts: the largest with 2 P(U < k) <= 5 %; 0: unreachable.
[[nodiscard]] std::size_t shift_interval_rank(std::size_t n, std::size_t m);

}  // namespace memsweep::measure
