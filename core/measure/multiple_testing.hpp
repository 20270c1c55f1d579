// Adjusted p values. Of a hundred unchanged metrics five look changed at p <= 0.05; adjusted values keep the share of
// false alarms among all alarms at that level instead.
//
// Sources  Benjamini and Hochberg 1995: q(i) = min over j >= i of p(j) m / j, at most 1. Groups: Benjamini and
//          Bogomolov 2014, with the test of Simes 1986 for a group.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memsweep::measure {

// The adjusted value of each p, in the same order.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p);

// The same for a family of which only the smallest p are given. None of those left out is smaller; they could only
// lower an adjusted value that is above theirs.
[[nodiscard]] std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family);

struct GroupedP {
    std::size_t group;
    double p;
};

// Adjusts in two stages where whole groups are named, such as a host with all its quantities. Of the groups that have
// any adjusted value at or below `level`, at most that share are expected to be false, and a group with hundreds of
// tests is not more easily named than one with few. `smallest` holds the smallest p of each group, `tests` the number
// of tests of every group.
[[nodiscard]] std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest,
                                                      std::span<const std::size_t> tests, double level);

}  // namespace memsweep::measure
