#include "core/measure/separate_runs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/measure/summary.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Metric;

constexpr double disturbing_share = 0.02;  // share of a case's time
// Who waits for a processor finds other data in its caches, and is slowed down by half as much again.
constexpr double price_of_waiting = 1.5;

bool is_rate(const model::Unit unit, const model::Better better)
{
    return better == model::Better::higher &&
           (unit == model::Unit::bytes_per_second || unit == model::Unit::per_second);
}

bool depends_on_load(const model::Unit unit, const model::Better better)
{
    return unit == model::Unit::seconds || is_rate(unit, better);
}

bool waits(std::string_view metric)
{
    return metric != model::metrics::cpu_time && metric != model::metrics::user_time &&
           metric != model::metrics::system_time;
}

struct Waiting {
    double seconds{};
    double share{};  // share of the repetition's time
};

// The waiting in each repetition; empty where it was not measured.
std::vector<Waiting> waiting(const CaseReport& report)
{
    const Metric* const time = model::find_metric(report, model::metrics::wall_time);
    const Metric* const delay = model::find_metric(report, model::metrics::run_delay_time);
    std::vector<Waiting> all;
    if (time == nullptr || delay == nullptr || time->values.size() != delay->values.size()) {
        return all;
    }
    for (std::size_t i = 0; i < time->values.size(); ++i) {
        if (!time->values[i] || !delay->values[i]) {
            return {};
        }
        const double whole = *time->values[i];
        all.push_back({*delay->values[i], whole > 0 ? *delay->values[i] / whole : 0});
    }
    return all;
}

// What a case waits by itself, for its own threads, is much the same each time: in seconds, or as a share where one
// side does more.
class Disturbance {
  public:
    Disturbance(const CaseReport& base, const CaseReport& candidate)
        : base_{waiting(base)}, candidate_{waiting(candidate)}, is_known_{!base_.empty() && !candidate_.empty()}
    {
        for (const auto* side : {&base_, &candidate_}) {
            for (const Waiting& one : *side) {
                least_.seconds = std::min(least_.seconds, one.seconds);
                least_.share = std::min(least_.share, one.share);
            }
        }
    }

    [[nodiscard]] const std::vector<Waiting>& base() const { return base_; }
    [[nodiscard]] const std::vector<Waiting>& candidate() const { return candidate_; }

    // Returns how many values are not taken.
    std::size_t take_undisturbed(const Metric& metric, const std::vector<Waiting>& side,
                                 std::vector<double>& into) const
    {
        std::size_t left_out = 0;
        for (std::size_t i = 0; i < metric.values.size(); ++i) {
            if (!metric.values[i]) {
                continue;
            }
            if (is_known_ && side.size() == metric.values.size() && is_disturbed(side[i])) {
                ++left_out;
            } else {
                into.push_back(*metric.values[i]);
            }
        }
        return left_out;
    }

  private:
    [[nodiscard]] bool is_disturbed(const Waiting& one) const
    {
        constexpr double more_seconds = 1.1;
        const double whole = one.share > 0 ? one.seconds / one.share : 0;
        return one.share > least_.share + disturbing_share &&
               one.seconds > least_.seconds * more_seconds + disturbing_share * whole;
    }

    std::vector<Waiting> base_, candidate_;
    bool is_known_;
    Waiting least_{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
};

// The share of its time that a case waited, averaged over the repetitions: a load that comes and goes meets some.
std::optional<double> waiting_share(const CaseReport& report)
{
    const std::vector<Waiting> all = waiting(report);
    if (all.empty()) {
        return std::nullopt;
    }
    const auto add = [](double sum, const Waiting& one) { return sum + one.share; };
    return std::accumulate(all.begin(), all.end(), 0.0, add) / static_cast<double>(all.size());
}

// Where the thread that allocates and the one that frees run at the same time, and where one after the other, the same
// work takes another time, of the processors too.
bool has_finalizer_thread(const CaseReport& report)
{
    return case_median(report, {}, model::metrics::finalizers_registered).value_or(0) > 0;
}

// By how much the slower side is slower.
double slowdown(const MetricComparison& metric)
{
    const double ratio = *metric.candidate_median / *metric.base_median;
    return std::max(ratio, 1 / ratio) - 1;
}

Reason why_turns(const CasePair& pair, const MetricComparison& metric)
{
    constexpr double most_by_turns = 0.25;  // that a time of all that a case does was seen to change by
    const bool is_event = is_of_one_event(metric.metric);
    const auto before = waiting_share(*pair.base);
    const auto after = waiting_share(*pair.candidate);
    if (!before || !after || metric.unit != model::Unit::seconds ||
        (!is_event && !has_finalizer_thread(*pair.base) && !has_finalizer_thread(*pair.candidate))) {
        return {};
    }
    const double more = std::abs(*after - *before);
    const auto wall = case_median(*pair.base, {}, model::metrics::wall_time);
    // All that the case waited may have been in this one event.
    const bool in_one = metric.metric.ends_with("_max") && wall &&
                        more * *wall >= std::abs(*metric.candidate_median - *metric.base_median);
    const bool takes_other_turns =
        more >= disturbing_share && (is_event || slowdown(metric) <= most_by_turns + price_of_waiting * more);
    if (!in_one && !takes_other_turns) {
        return {};
    }
    const bool is_after = *after > *before;
    return {OtherTurns{is_after, std::max(*before, *after), std::min(*before, *after)}};
}

// In the direction of the change; nullptr: none.
const MachineDrift* largest_drift(const std::vector<MachineDrift>& drifts, bool was_slower)
{
    const auto size = [](const MachineDrift& drift) { return std::abs(std::log(drift.ratio.estimate)); };
    const MachineDrift* largest = nullptr;
    for (const MachineDrift& drift : drifts) {
        if ((drift.ratio.estimate > 1) == was_slower && (largest == nullptr || size(drift) > size(*largest))) {
            largest = &drift;
        }
    }
    return largest;
}

// The lowest of ten; of more the upper end of the lowest tenth, lest a change be the harder to see the more there are.
double fastest_of(std::vector<double> times)
{
    const auto at = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 10);
    std::ranges::nth_element(times, at);
    return *at;
}

// Rates as times, so that more is slower.
std::vector<double> as_times(std::vector<double> values, bool are_rates)
{
    if (are_rates) {
        std::ranges::transform(values, values.begin(), [](double rate) { return 1 / rate; });
    }
    return values;
}

// How much longer the slower side waited for a processor; empty: not known.
std::optional<double> longer_waiting(const CasePair& pair, bool worse)
{
    const auto longer = case_median(worse ? *pair.candidate : *pair.base, {}, model::metrics::run_delay_time);
    const auto shorter = case_median(worse ? *pair.base : *pair.candidate, {}, model::metrics::run_delay_time);
    return longer && shorter ? std::optional{*longer - *shorter} : std::nullopt;
}

bool is_more_than_waiting(const CasePair& pair, const MetricComparison& metric)
{
    const bool worse = metric.verdict == Verdict::regressed;
    const auto waited = longer_waiting(pair, worse);
    const auto time = case_median(worse ? *pair.base : *pair.candidate, {}, model::metrics::wall_time);
    return !waited || !time || *time <= 0 ||
           slowdown(metric) - price_of_waiting * *waited / *time > metric.threshold.relative;
}

// A processor time includes no waiting, but what the caches lost meanwhile.
Reason why_cold_caches(const CasePair& pair, const MetricComparison& metric)
{
    const bool worse = metric.verdict == Verdict::regressed;
    const auto waited = longer_waiting(pair, worse);
    if (waits(metric.metric) || metric.unit != model::Unit::seconds || !waited || *waited <= 0) {
        return {};
    }
    const double faster = worse ? *metric.base_median : *metric.candidate_median;
    if (slowdown(metric) - (price_of_waiting - 1) * *waited / faster > metric.threshold.relative) {
        return {};
    }
    return {ColdCaches{worse, *waited}};
}

DisturbedRuns disturbed_runs(const UndisturbedValues& values)
{
    return {values.base_disturbed, values.base_disturbed + values.base.size(), values.candidate_disturbed,
            values.candidate_disturbed + values.candidate.size()};
}

Reason why_fastest(const CasePair& pair, const MetricComparison& metric, const std::vector<MachineDrift>& drifts)
{
    const Metric* const from = model::find_metric(*pair.base, metric.metric);
    const Metric* const to = model::find_metric(*pair.candidate, metric.metric);
    if (from == nullptr || to == nullptr) {
        return {};  // a named point's metric
    }
    const bool worse = metric.verdict == Verdict::regressed;
    const bool rate = is_rate(metric.unit, metric.better);
    UndisturbedValues values = undisturbed_values(pair, *from, *to);
    if (values.base.size() != metric.base_n || values.candidate.size() != metric.candidate_n) {  // all were judged
        if (!is_more_than_waiting(pair, metric)) {
            return {disturbed_runs(values)};
        }
        values = {present(from->values), present(to->values)};
    }
    const std::vector<double> base = as_times(std::move(values.base), rate);
    const std::vector<double> candidate = as_times(std::move(values.candidate), rate);
    const double fastest = fastest_of(worse ? candidate : base);
    const double usual = median(worse ? base : candidate);
    const MachineDrift* const drift = largest_drift(drifts, worse);
    const double by = drift == nullptr ? 1 : worse ? drift->ratio.estimate : 1 / drift->ratio.estimate;
    const double left = fastest / by - usual;
    if (left > 0 && beyond({metric.threshold.relative, rate ? 0 : metric.threshold.absolute}, usual, left)) {
        return {};
    }
    const auto in_unit = [&](double time) { return rate ? 1 / time : time; };
    return {FastestRuns{worse, metric.unit, in_unit(fastest), in_unit(usual), metric.threshold,
                        drift == nullptr ? std::nullopt : std::optional{drift->kind}, by - 1}};
}

}  // namespace

UndisturbedValues undisturbed_values(const CasePair& pair, const Metric& base, const Metric& candidate)
{
    if (!depends_on_load(base.unit, base.better) || !waits(base.name)) {
        return {present(base.values), present(candidate.values)};
    }
    const Disturbance disturbance{*pair.base, *pair.candidate};
    UndisturbedValues values;
    values.base_disturbed = disturbance.take_undisturbed(base, disturbance.base(), values.base);
    values.candidate_disturbed = disturbance.take_undisturbed(candidate, disturbance.candidate(), values.candidate);
    return values;
}

bool too_disturbed(const UndisturbedValues& values, std::size_t needed)
{
    return (values.base.size() < needed && values.base_disturbed > 0) ||
           (values.candidate.size() < needed && values.candidate_disturbed > 0);
}

Reason why_machine(const CasePair& pair, const MetricComparison& metric, const std::vector<MachineDrift>& drifts)
{
    if (!depends_on_load(metric.unit, metric.better) || !metric.base_median || !metric.candidate_median) {
        return {};
    }
    Reason reason = why_turns(pair, metric);
    if (!reason.is_given()) {
        reason = why_cold_caches(pair, metric);
    }
    return reason.is_given() ? reason : why_fastest(pair, metric, drifts);
}

}  // namespace memsweep::measure
