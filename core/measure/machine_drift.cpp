#include "core/measure/machine_drift.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/measure/cases.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

constexpr double least_drift = 0.02;
constexpr double as_many_faults = 0.15;  // more or fewer: what is planted may be a tenth

bool is_rate(const MetricComparison& metric)
{
    return metric.better == model::Better::higher;
}

// The candidate's value on a machine as fast as the base's.
double adjusted(const MachineDrift& drift, const MetricComparison& metric)
{
    return is_rate(metric) ? *metric.candidate_median * drift.ratio.estimate
                           : *metric.candidate_median / drift.ratio.estimate;
}

// What is left of the change in its own direction; 0 or less: the drift is more than all of it.
double left_of(const MachineDrift& drift, const MetricComparison& metric)
{
    const double base = *metric.base_median;
    const bool grew = *metric.candidate_median > base;
    return grew ? adjusted(drift, metric) - base : base - adjusted(drift, metric);
}

std::optional<MachineDrift> drift_of(TimedWork kind, const std::vector<double>& base,
                                     const std::vector<double>& candidate)
{
    if (std::min(base.size(), candidate.size()) < min_repetitions || !all_positive(base) || !all_positive(candidate)) {
        return std::nullopt;
    }
    const Shift ratio = hodges_lehmann(base, candidate);
    const bool is_shown = ratio.interval && ((*ratio.interval)[0] > 1 || (*ratio.interval)[1] < 1);
    return ratio.is_ratio && is_shown && std::abs(ratio.estimate - 1) >= least_drift
               ? std::optional{MachineDrift{kind, ratio, median(base), median(candidate)}}
               : std::nullopt;
}

// The kernel's time a fault in each repetition; empty where one is unknown.
std::vector<double> fault_prices(const model::CaseReport& report)
{
    const auto times = case_values(report, {}, model::metrics::kernel_time);
    const auto faults = case_values(report, {}, model::metrics::minor_faults);
    std::vector<double> prices;
    for (std::size_t i = 0; i < std::min(times.size(), faults.size()); ++i) {
        if (!times[i] || !faults[i] || *faults[i] <= 0) {
            return {};
        }
        prices.push_back(*times[i] / *faults[i]);
    }
    return prices;
}

std::optional<MachineDrift> drift_of_own_faults(const CasePair& pair)
{
    const auto before = case_median(*pair.base, {}, model::metrics::minor_faults);
    const auto after = case_median(*pair.candidate, {}, model::metrics::minor_faults);
    if (!before || !after || std::abs(*after - *before) > as_many_faults * *before) {
        return std::nullopt;
    }
    return drift_of(TimedWork::own_faults, fault_prices(*pair.base), fault_prices(*pair.candidate));
}

// What part of a time of the case is work of that kind; empty: not known.
std::optional<double> share_of(TimedWork kind, const model::CaseReport& base, std::string_view metric)
{
    std::string_view part;
    switch (kind) {
    case TimedWork::first_touch:
        part = model::metrics::fault_time;
        break;
    case TimedWork::release:
        part = model::metrics::allocator_time;
        break;
    case TimedWork::own_faults:
        part = model::metrics::kernel_time;
        break;
    case TimedWork::computation:
    case TimedWork::copy:
        return std::nullopt;
    }
    const auto whole = case_median(
        base, {}, metric == model::metrics::cpu_time ? model::metrics::cpu_time : model::metrics::wall_time);
    const auto spent = case_median(base, {}, part);
    return spent && whole && *whole > 0 ? std::optional{std::clamp(*spent / *whole, 0.0, 1.0)} : std::nullopt;
}

}  // namespace

std::vector<MachineDrift> machine_drifts(const model::MachineRounds& base, const model::MachineRounds& candidate)
{
    using Rounds = std::vector<double> model::MachineRounds::*;
    struct Kind {
        TimedWork kind;
        Rounds rounds;
    };
    constexpr std::array<Kind, 4> kinds{{{TimedWork::computation, &model::MachineRounds::compute_seconds},
                                         {TimedWork::copy, &model::MachineRounds::copy_seconds},
                                         {TimedWork::first_touch, &model::MachineRounds::fault_seconds},
                                         {TimedWork::release, &model::MachineRounds::release_seconds}}};
    std::vector<MachineDrift> drifts;
    for (const auto& [kind, rounds] : kinds) {
        if (auto drift = drift_of(kind, base.*rounds, candidate.*rounds)) {
            drifts.push_back(*drift);
        }
    }
    return drifts;
}

std::vector<MachineDrift> drifts_of_case(std::vector<MachineDrift> drifts, const CasePair& pair,
                                         std::string_view metric)
{
    if (const auto own = drift_of_own_faults(pair)) {
        drifts.push_back(*own);
    }
    if (is_of_one_event(metric)) {
        return drifts;
    }
    for (MachineDrift& drift : drifts) {
        if (const auto share = share_of(drift.kind, *pair.base, metric)) {
            drift.share = *share;
            drift.ratio.estimate = 1 + (drift.ratio.estimate - 1) * drift.share;
        }
    }
    std::erase_if(drifts, [](const MachineDrift& drift) { return std::abs(drift.ratio.estimate - 1) < least_drift; });
    return drifts;
}

const MachineDrift* explaining(const std::vector<MachineDrift>& drifts, const MetricComparison& metric)
{
    const bool is_time = metric.unit == model::Unit::seconds && metric.better == model::Better::lower;
    const bool is_throughput = metric.unit == model::Unit::bytes_per_second && is_rate(metric);
    if ((!is_time && !is_throughput) || !metric.base_median || !metric.candidate_median) {
        return nullptr;
    }
    const bool was_slower = (metric.verdict == Verdict::regressed);
    const MachineDrift* best = nullptr;
    double least = std::numeric_limits<double>::max();
    for (const MachineDrift& drift : drifts) {
        const double left = left_of(drift, metric);
        const bool same_direction = (drift.ratio.estimate > 1) == was_slower;
        if (same_direction && left < least && (left <= 0 || !beyond(metric.threshold, *metric.base_median, left))) {
            best = &drift;
            least = left;
        }
    }
    return best;
}

SlowerMachine slower_machine(const MachineDrift& drift, const MetricComparison& metric)
{
    const bool slower = drift.ratio.estimate > 1;
    return {.is_under_candidate = slower,
            .work = drift.kind,
            .by = slower ? drift.ratio.estimate - 1 : 1 / drift.ratio.estimate - 1,
            .slower = slower ? drift.candidate_median : drift.base_median,
            .faster = slower ? drift.base_median : drift.candidate_median,
            .share = drift.share,
            .left = std::max(left_of(drift, metric), 0.0) / *metric.base_median,
            .unit = metric.unit,
            .threshold = metric.threshold};
}

}  // namespace memsweep::measure
