// Of a hundred unchanged metrics, five look changed at p <= 0.05; adjusted values keep the share of false alarms
// among all alarms at that level instead.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memsweep::measure {

// The adjusted value of each p, in the same order.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// The same of a family of which only the smallest p are given: those left out are none of them smaller, and what they
// would add is that an adjusted value above theirs might be lower.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

}  // namespace memsweep::measure
