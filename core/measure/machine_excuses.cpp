#include "core/measure/machine_excuses.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "core/measure/machine_drift.hpp"
#include "core/measure/separate_runs.hpp"
#include "core/measure/time_contrast.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::RunReport;

bool is_judged_change(const MetricComparison& metric)
{
    return !metric.metric.empty() && (metric.verdict == Verdict::regressed || metric.verdict == Verdict::improved);
}

void excuse(MetricComparison& metric, Reason reason)
{
    metric.verdict = Verdict::inconclusive;
    metric.busier_machine = true;
    metric.reason = std::move(reason);
}

// That the case waited for what others did. Empty: it did not, or not so long.
Reason why_busy(const CasePair& pair, const MetricComparison& metric)
{
    const bool worse = metric.verdict == Verdict::regressed;
    const CaseReport& slower = worse ? *pair.candidate : *pair.base;
    const CaseReport& faster = worse ? *pair.base : *pair.candidate;
    const auto machine = machine_contrast(faster, slower, metric.metric);
    if (!machine || !machine_explains(*machine, metric.threshold, *metric.base_median)) {
        return {};
    }
    return {BusierMachine{!worse, metric.unit, *machine, *metric.base_median, metric.threshold}};
}

// That fixed work changed as much, or that other work may have made the change.
Reason why_drift(const CasePair& pair, const MetricComparison& metric, const std::vector<MachineDrift>& drifts)
{
    const std::vector<MachineDrift> own = drifts_of_case(drifts, pair, metric.metric);
    const MachineDrift* const drift = explaining(own, metric);
    return drift != nullptr ? Reason{slower_machine(*drift, metric)} : why_machine(pair, metric, own);
}

}  // namespace

void excuse_machine(Comparison& comparison, const RunReport& base, const RunReport& candidate)
{
    std::vector<MachineDrift> drifts;
    if (base.calibration.rounds && candidate.calibration.rounds) {
        drifts = machine_drifts(*base.calibration.rounds, *candidate.calibration.rounds);
    }
    for (MetricComparison& metric : comparison.metrics) {
        if (!is_judged_change(metric)) {
            continue;
        }
        const CasePair& pair = comparison.pairs[metric.pair];
        Reason reason = metric.unit == model::Unit::seconds ? why_busy(pair, metric) : Reason{};
        if (!reason.is_given() && metric.q) {
            reason = why_drift(pair, metric, drifts);
        }
        if (reason.is_given()) {
            excuse(metric, std::move(reason));
        }
    }
}

}  // namespace memsweep::measure
