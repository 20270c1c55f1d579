// Of a hundred unchanged metrics, five look changed at p <= 0.05; adjusted values keep the share of false alarms
// among all alarms at that level instead.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1. Groups: Benjamini and
// Bogomolov
//          2014, with the test of Simes 1986 for a group.
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

struct GroupedP {
    std::size_t group;
    double p;
};

// Adjusted in two stages where whole groups (all quantities of a host) are what is named: of the groups that have any
// adjusted value at or below `level`, at most that share are expected to be false; one of groups with hundreds of tests
// is not more easily named than one with few. `smallest`: as above, of each group; `tests`: how many each group has, of
// all groups.
[[nodiscard]] std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest,
                                                      std::span<const std::size_t> tests, double level);

}  // namespace memsweep::measure
