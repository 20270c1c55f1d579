// Of a hundred unchanged metrics, five look changed at p <= 0.05; adjusted values keep the share of false alarms
// among all alarms at that level instead.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1.
#pragma once

#include <span>
#include <vector>

namespace memsweep::measure {

// The adjusted value of each p, in the same order.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

}  // namespace memsweep::measure
