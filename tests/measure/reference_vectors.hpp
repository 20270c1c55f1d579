// What scipy and numpy say about fixed samples; see make_vectors.py.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace memsweep::measure {

using Interval = std::array<double, 2>;

struct RankVector {
    std::vector<double> first, second;
    double u, p;
    bool exact;
};

struct SummaryVector {
    std::vector<double> values;
    double mean, median, mad, stddev, p05, p95, p33;
    std::optional<Interval> ci95;
    std::uint64_t outliers;
};

struct ShiftVector {
    std::vector<double> base, candidate;
    bool is_ratio;
    double estimate;
    std::optional<Interval> interval;
};

struct AdjustmentVector {
    std::vector<double> p, q;
};

struct SpearmanVector {
    std::vector<double> values;
    double rho;
};

#include "tests/measure/reference_vectors.inc"

// To 1e-12, relative where the value is large.
inline bool agrees(double actual, double expected)
{
    return std::fabs(actual - expected) <= 1e-12 * std::fmax(1, std::fabs(expected));
}

inline bool agrees(const std::optional<Interval>& actual, const std::optional<Interval>& expected)
{
    if (!actual || !expected) {
        return actual.has_value() == expected.has_value();
    }
    return agrees((*actual)[0], (*expected)[0]) && agrees((*actual)[1], (*expected)[1]);
}

}  // namespace memsweep::measure
