#include "core/measure/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::Fleet;
using model::FleetMetric;

struct Pairs {
    std::vector<std::size_t> hosts;  // the base's
    std::vector<double> base, candidate, spread;
    std::vector<double> low, high;  // interval of the ratio
};

using HostPairs = std::vector<std::pair<std::size_t, std::size_t>>;

HostPairs common_hosts(const Fleet& base, const Fleet& candidate)
{
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < candidate.hosts.size(); ++i) {
        places.emplace(candidate.hosts[i].name, i);
    }
    HostPairs pairs;
    for (std::size_t i = 0; i < base.hosts.size(); ++i) {
        if (const auto found = places.find(base.hosts[i].name); found != places.end()) {
            pairs.emplace_back(i, found->second);
        }
    }
    return pairs;
}

Pairs pairs_of(const FleetMetric& base, const FleetMetric& candidate, const HostPairs& hosts)
{
    Pairs pairs;
    for (const auto& [b, c] : hosts) {
        if (std::isfinite(base.median[b]) && std::isfinite(candidate.median[c])) {
            pairs.hosts.push_back(b);
            pairs.base.push_back(base.median[b]);
            pairs.candidate.push_back(candidate.median[c]);
            pairs.spread.push_back(std::hypot(base.mad[b] / base.median[b], candidate.mad[c] / candidate.median[c]));
            pairs.low.push_back(candidate.low[c] / base.high[b]);
            pairs.high.push_back(candidate.high[c] / base.low[b]);
        }
    }
    return pairs;
}

std::vector<double> shifts_of(const Pairs& pairs, bool is_ratio)
{
    std::vector<double> shifts;
    for (std::size_t i = 0; i < pairs.base.size(); ++i) {
        shifts.push_back(is_ratio ? pairs.candidate[i] / pairs.base[i] : pairs.candidate[i] - pairs.base[i]);
    }
    return shifts;
}

Shift median_shift(std::vector<double> shifts, bool is_ratio)
{
    std::ranges::sort(shifts);
    const model::Summary summary = summary_of_sorted(shifts);
    return {is_ratio, summary.median, summary.ci95};
}

double sign_p(const std::vector<double>& shifts, double none)
{
    const auto above = std::ranges::count_if(shifts, [&](double one) { return one > none; });
    const auto below = std::ranges::count_if(shifts, [&](double one) { return one < none; });
    return sign_test_p(static_cast<std::size_t>(above + below), static_cast<std::size_t>(std::min(above, below)));
}

constexpr std::size_t least_hosts = 6;  // whose median has an interval

struct Open {
    std::size_t change;
    double p;
};

void judge_changes(FleetTrend& trend, const std::vector<Open>& open, const std::vector<Observed>& observed)
{
    std::vector<double> p;
    for (const Open& one : open) {
        p.push_back(one.p);
    }
    const std::vector<double> q = benjamini_hochberg(p);
    for (std::size_t i = 0; i < open.size(); ++i) {
        FleetChange& change = trend.changes[open[i].change];
        change.q = q[i];
        Judgement judgement = judge_noisy(observed[open[i].change], change.shift, q[i]);
        change.verdict = judgement.verdict;
        change.reason = std::move(judgement.reason);
    }
}

// Which host changed unlike the others; candidates, whose q is still their p. `tests`: of each host of the base.
void add_outlying(const Fleet& base, const FleetMetric& metric, const Pairs& pairs, const std::vector<double>& ratios,
                  const Threshold& threshold, FleetTrend& trend, std::vector<std::size_t>& tests)
{
    std::vector<PeerValue> values;
    for (std::size_t i = 0; i < ratios.size(); ++i) {
        values.push_back({i, ratios[i], pairs.spread[i] * ratios[i], pairs.low[i], pairs.high[i]});
    }
    const PeerJudgement judgement = judge_peers({.values = std::move(values),
                                                 .better = metric.better,
                                                 .metric_class = model::MetricClass::noisy,
                                                 .threshold = {.relative = threshold.relative, .absolute = 0}});
    for (const std::size_t host : pairs.hosts) {
        tests[host] += judgement.tests > 0 ? 1U : 0U;
    }
    for (const Deviation& one : judgement.deviations) {
        trend.outlying.push_back({.host = base.hosts[pairs.hosts[one.host]].name,
                                  .case_id = metric.case_id,
                                  .metric = metric.name,
                                  .unit = metric.unit,
                                  .base = pairs.base[one.host],
                                  .candidate = pairs.candidate[one.host],
                                  .usual = judgement.median,
                                  .z = one.z,
                                  .q = one.p,
                                  .is_worse = one.is_worse});
    }
}

void adjust_outlying(FleetTrend& trend, const Fleet& base, std::span<const std::size_t> tests)
{
    const auto host_of = [&](const HostChange& one) {
        return static_cast<std::size_t>(std::ranges::find(base.hosts, one.host, &model::FleetHost::name) -
                                        base.hosts.begin());
    };
    keep_unlikely(trend.outlying, host_of, tests, fleet_false_share);
    std::ranges::stable_sort(trend.outlying, std::ranges::greater{}, [](const HostChange& one) {
        return std::pair{one.is_worse, std::fabs(one.z)};
    });
}

std::set<std::string> bad_names(const Fleet& fleet)
{
    std::set<std::string> names;
    for (const BadHost& bad : judge_fleet(fleet).bad) {
        names.insert(fleet.hosts[bad.host].name);
    }
    return names;
}

std::set<std::string> host_names(const Fleet& fleet)
{
    std::set<std::string> names;
    std::ranges::transform(fleet.hosts, std::inserter(names, names.end()), &model::FleetHost::name);
    return names;
}

void compare_hosts(const Fleet& base, const Fleet& candidate, FleetTrend& trend)
{
    const std::set<std::string> before = host_names(base);
    const std::set<std::string> after = host_names(candidate);
    std::ranges::set_difference(before, after, std::back_inserter(trend.gone));
    std::ranges::set_difference(after, before, std::back_inserter(trend.added));
    const std::set<std::string> bad_before = bad_names(base);
    const std::set<std::string> bad_after = bad_names(candidate);
    std::ranges::set_difference(bad_after, bad_before, std::back_inserter(trend.newly_bad));
    std::ranges::set_difference(bad_before, bad_after, std::back_inserter(trend.recovered));
    std::ranges::set_intersection(bad_after, bad_before, std::back_inserter(trend.still_bad));
    std::erase_if(trend.recovered, [&](const std::string& name) { return !after.contains(name); });
}

}  // namespace

base::Expected<FleetTrend> compare_fleets(const NamedFleet& base, const NamedFleet& candidate,
                                          const Thresholds& thresholds, bool force)
{
    const Fleet& before = *base.fleet;
    const Fleet& after = *candidate.fleet;
    if (before.scenario != after.scenario && !force) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("the fleets measured different scenarios: {} and {}; --force compares them all "
                                      "the same",
                                      before.scenario, after.scenario),
                          candidate.name);
    }
    FleetTrend trend{.base_name = base.name, .candidate_name = candidate.name};
    const HostPairs hosts = common_hosts(before, after);
    trend.hosts = hosts.size();
    std::map<std::tuple<std::string, std::string, std::string>, const FleetMetric*> candidates;
    for (const FleetMetric& metric : after.metrics) {
        candidates.emplace(std::tuple{metric.scenario, metric.case_id, metric.name}, &metric);
    }
    std::vector<Open> open;
    std::vector<Observed> observed;
    std::vector<std::size_t> tests(before.hosts.size());
    for (const FleetMetric& metric : before.metrics) {
        const auto found = candidates.find({metric.scenario, metric.case_id, metric.name});
        if (found == candidates.end() || found->second->unit != metric.unit) {
            continue;
        }
        const Pairs pairs = pairs_of(metric, *found->second, hosts);
        if (pairs.hosts.empty()) {
            continue;
        }
        const bool is_ratio = all_positive(pairs.base) && all_positive(pairs.candidate);
        const std::vector<double> shifts = shifts_of(pairs, is_ratio);
        const Threshold threshold = threshold_for(thresholds, metric.name, metric.unit, metric.metric_class);
        FleetChange change{.scenario = metric.scenario,
                           .case_id = metric.case_id,
                           .metric = metric.name,
                           .unit = metric.unit,
                           .hosts = pairs.hosts.size(),
                           .base = median(pairs.base),
                           .candidate = median(pairs.candidate),
                           .shift = median_shift(shifts, is_ratio)};
        observed.push_back({metric.unit, metric.better, threshold, change.base, change.candidate});
        const model::Role role = model::role_of(metric.name);
        if (role == model::Role::context && !thresholds.contains(metric.name)) {
            change.verdict = Verdict::informational;
            change.reason = {Rule::fleet_explains};
            trend.changes.push_back(std::move(change));
            continue;
        }
        if (metric.metric_class == model::MetricClass::exact) {
            Judgement judgement = judge_exact(observed.back());
            change.verdict = judgement.verdict;
            change.reason = std::move(judgement.reason);
        } else if (!change.shift.interval) {
            change.verdict = Verdict::insufficient;
            change.reason = {TooFewHosts{change.hosts, least_hosts}};
        } else {
            open.push_back({trend.changes.size(), sign_p(shifts, is_ratio ? 1 : 0)});
        }
        if (is_ratio && metric.metric_class == model::MetricClass::noisy && role != model::Role::time_part) {
            add_outlying(before, metric, pairs, shifts, threshold, trend, tests);
        }
        trend.changes.push_back(std::move(change));
    }
    if (trend.changes.empty()) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("no host and quantity is in both {} and {}", base.name, candidate.name),
                          candidate.name);
    }
    judge_changes(trend, open, observed);
    adjust_outlying(trend, before, tests);
    compare_hosts(before, after, trend);
    return trend;
}

std::size_t count_changes(const FleetTrend& trend, Verdict verdict)
{
    return static_cast<std::size_t>(std::ranges::count(trend.changes, verdict, &FleetChange::verdict));
}

}  // namespace memsweep::measure
