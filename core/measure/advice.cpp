#include "core/measure/advice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace memsweep::measure {
namespace {

constexpr std::size_t least_pairs = 3;
constexpr std::size_t enough_pairs = 10;
constexpr double false_price = 0.01;
constexpr double clearly_dearer = 1.03;

// StudentRow of Student's t by degrees of freedom, rounded up; between two rows that of fewer degrees.
struct StudentRow {
    std::size_t freedom;
    double two_sided_95;
    double one_sided_995;
};
constexpr auto student = std::to_array<StudentRow>({{1, 12.71, 63.66},
                                                    {2, 4.31, 9.93},
                                                    {3, 3.19, 5.85},
                                                    {4, 2.78, 4.61},
                                                    {5, 2.58, 4.04},
                                                    {6, 2.45, 3.71},
                                                    {7, 2.37, 3.50},
                                                    {8, 2.31, 3.36},
                                                    {9, 2.27, 3.25},
                                                    {12, 2.18, 3.06},
                                                    {15, 2.14, 2.95},
                                                    {20, 2.09, 2.85},
                                                    {30, 2.05, 2.75},
                                                    {60, 2.00, 2.67}});

const StudentRow& student_row(std::size_t freedom)
{
    const auto above = std::ranges::upper_bound(student, freedom, {}, &StudentRow::freedom);
    return above == student.begin() ? student.front() : *(above - 1);
}

struct MeanAndError {
    double mean{};
    double error{};  // of the mean
};

MeanAndError mean_and_error(std::span<const double> values)
{
    const auto n = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values) {
        squares += (value - mean) * (value - mean);
    }
    return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (n - 1) / n)};
}

}  // namespace

double LeastGain::of(double memory) const
{
    return std::max(share * memory, static_cast<double>(bytes));
}

Judged judge_gain(std::span<const PairOfValues> memory, const LeastGain& least)
{
    Judged judged{.pairs = memory.size()};
    if (memory.empty()) {
        return judged;
    }
    std::vector<double> gains;
    std::vector<double> ratios;
    double base = 0;
    for (const PairOfValues& pair : memory) {
        gains.push_back(pair.base - pair.candidate);
        ratios.push_back(pair.candidate / pair.base);
        base += pair.base / static_cast<double>(memory.size());
    }
    const MeanAndError gain = mean_and_error(gains);
    const MeanAndError ratio = mean_and_error(ratios);
    judged.ratio = ratio.mean;
    if (memory.size() < least_pairs) {
        return judged;
    }
    const StudentRow& t = student_row(memory.size() - 1);
    judged.ci95 = {{ratio.mean - t.two_sided_95 * ratio.error, ratio.mean + t.two_sided_95 * ratio.error}};
    const double needed = least.of(base);
    if (gain.mean >= needed && gain.mean - t.one_sided_995 * gain.error > 0) {
        judged.claim = Claim::proven;
    } else if (gain.mean + t.two_sided_95 * gain.error < needed || memory.size() >= enough_pairs) {
        judged.claim = Claim::refuted;
    }
    return judged;
}

Judged judge_price(std::span<const PairOfValues> time, double at_most)
{
    Judged judged{.pairs = time.size()};
    if (time.empty()) {
        return judged;
    }
    PairedQuestion question{.unit = model::Unit::seconds,
                            .better = model::Better::lower,
                            .metric_class = model::MetricClass::noisy,
                            .threshold = {},
                            .false_alarms = false_price,
                            .is_asked_for = true};
    const PairedJudgement as_it_is = judge_pairs(time, question);
    judged.ratio = as_it_is.shift.estimate;
    if (time.size() >= least_pairs) {
        judged.ci95 = as_it_is.shift.interval;
    }
    std::vector<PairOfValues> allowed{time.begin(), time.end()};
    for (PairOfValues& pair : allowed) {
        pair.base *= at_most;
    }
    const Verdict verdict = decide_pairs(allowed, question);
    if (verdict == Verdict::improved) {
        judged.claim = Claim::proven;
    } else if (verdict == Verdict::regressed ||
               (time.size() >= enough_pairs && judged.ratio > at_most * clearly_dearer)) {
        judged.claim = Claim::refuted;
    }
    return judged;
}

bool is_affordable(const Judged& price, double at_most)
{
    return price.claim == Claim::proven ||
           (price.claim == Claim::open && price.pairs > 0 && price.ratio <= at_most * clearly_dearer);
}

}  // namespace memsweep::measure
