#include "core/measure/history.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/change_points.hpp"
#include "core/measure/format.hpp"
#include "core/measure/multiple_testing.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

static_assert(min_runs == 2 * min_segment);

std::string machine_text(const model::Machine& machine)
{
    return fmt::format("{}, {} core{}, {}", machine.cpu.empty() ? "unknown processor" : machine.cpu, machine.cores,
                       machine.cores == 1 ? "" : "s", base::format_size(machine.memory_bytes));
}

struct Sequence {
    std::vector<std::size_t> runs;  // that have a value
    std::vector<double> medians;
};

Sequence sequence_of(const Trend& trend)
{
    Sequence sequence;
    for (std::size_t run = 0; run < trend.points.size(); ++run) {
        if (trend.points[run]) {
            sequence.runs.push_back(run);
            sequence.medians.push_back(trend.points[run]->median);
        }
    }
    return sequence;
}

Observed observed(const Trend& trend, double before, double after)
{
    return {trend.unit, trend.better, trend.threshold, before, after};
}

// An exact counter is on another level as soon as its median is another one.
void judge_exact_trend(Trend& trend)
{
    const Sequence sequence = sequence_of(trend);
    for (std::size_t i = 1; i < sequence.runs.size(); ++i) {
        const double before = sequence.medians[i - 1];
        const double after = sequence.medians[i];
        Judgement judgement = judge_exact(observed(trend, before, after));
        if (judgement.verdict != Verdict::same) {
            trend.changes.push_back({.run = sequence.runs[i],
                                     .verdict = judgement.verdict,
                                     .before = before,
                                     .after = after,
                                     .shift = hodges_lehmann(std::array{before}, std::array{after}),
                                     .q = {},
                                     .why = std::move(judgement.why)});
        }
    }
}

// What was found at `cut` between the two around it, if it is large enough to matter.
std::optional<Change> change_at(const Trend& trend, const Sequence& sequence, std::array<std::size_t, 3> bounds,
                                double q)
{
    const std::span<const double> medians{sequence.medians};
    const auto left = medians.subspan(bounds[0], bounds[1] - bounds[0]);
    const auto right = medians.subspan(bounds[1], bounds[2] - bounds[1]);
    Change change{.run = sequence.runs[bounds[1]],
                  .before = median({left.begin(), left.end()}),
                  .after = median({right.begin(), right.end()}),
                  .shift = hodges_lehmann(left, right),
                  .q = q};
    if (!change.shift.interval) {
        return std::nullopt;
    }
    Judgement judgement = judge_noisy(observed(trend, change.before, change.after), change.shift, q);
    if (judgement.verdict != Verdict::regressed && judgement.verdict != Verdict::improved) {
        return std::nullopt;
    }
    change.verdict = model::describes_machine(trend.metric) ? Verdict::informational : judgement.verdict;
    change.why = std::move(judgement.why);
    return change;
}

// `adjust`: what a p becomes among all the trends that are tested together.
void judge_noisy_trend(Trend& trend, CutFinder& finder, double adjust)
{
    const Sequence sequence = sequence_of(trend);
    const std::vector<Cut> cuts = finder.cuts(sequence.medians, significance / adjust);
    for (std::size_t i = 0; i < cuts.size(); ++i) {
        const std::size_t first = i == 0 ? 0 : cuts[i - 1].at;
        const std::size_t end = i + 1 < cuts.size() ? cuts[i + 1].at : sequence.medians.size();
        if (auto change = change_at(trend, sequence, {first, cuts[i].at, end}, std::min(1.0, cuts[i].p * adjust))) {
            trend.changes.push_back(*std::move(change));
        }
    }
}

void judge(History& history)
{
    CutFinder finder;
    std::vector<Trend*> noisy;
    std::vector<double> p;
    for (Trend& trend : history.trends) {
        if (trend.metric_class == model::MetricClass::exact) {
            judge_exact_trend(trend);
            continue;
        }
        const Sequence sequence = sequence_of(trend);
        if (const auto cut = finder.best_cut(sequence.medians)) {
            noisy.push_back(&trend);
            p.push_back(cut->p);
        } else {
            trend.why = fmt::format("{} run{} measured it; {} are needed to show a change", sequence.runs.size(),
                                    sequence.runs.size() == 1 ? "" : "s", min_runs);
        }
    }
    history.judged = noisy.size();
    const std::vector<double> q = benjamini_hochberg(p);
    const auto selected = std::ranges::count_if(q, [](double value) { return value <= significance; });
    for (std::size_t i = 0; i < noisy.size(); ++i) {
        if (q[i] <= significance) {
            judge_noisy_trend(*noisy[i], finder, static_cast<double>(noisy.size()) / static_cast<double>(selected));
        }
    }
}

}  // namespace

void HistoryBuilder::add(const std::string& name, const model::RunReport& report)
{
    Entry& entry = entries_.emplace_back();
    const model::RunInfo& run = report.run;
    entry.scenario = run.scenario_name;
    entry.description = run.scenario_description;
    entry.machine = machine_text(report.machine);
    entry.scenario_fingerprint = run.scenario_fingerprint;
    entry.machine_fingerprint = report.machine.fingerprint;
    const std::string commit = report.tool.commit.empty() ? "" : fmt::format(" ({:.12})", report.tool.commit);
    entry.run = {name, run.id, run.started, report.machine.host, report.tool.version + commit, run.interrupted};
    for (const model::CaseReport& one : report.cases) {
        for (const model::Metric& metric : one.metrics) {
            if (one.status == model::Status::ok && metric.summary) {
                entry.values.push_back({one.scenario,
                                        one.id,
                                        metric.name,
                                        metric.unit,
                                        metric.better,
                                        metric.metric_class,
                                        {metric.summary->n, metric.summary->median, metric.summary->ci95}});
            }
        }
    }
}

History HistoryBuilder::history_of(const std::vector<const Entry*>& entries, const Criteria& criteria)
{
    const Entry& latest = *entries.back();
    History history{.scenario = latest.scenario,
                    .description = latest.description,
                    .machine = latest.machine,
                    .scenario_fingerprint = latest.scenario_fingerprint,
                    .machine_fingerprint = latest.machine_fingerprint};
    std::map<std::tuple<std::string, std::string, std::string, model::Unit>, std::size_t> index;
    for (std::size_t run = 0; run < entries.size(); ++run) {
        history.runs.push_back(entries[run]->run);
        for (const Value& value : entries[run]->values) {
            if (!criteria.only.empty() && !criteria.only.contains(value.metric)) {
                continue;
            }
            const auto [place, is_new] =
                index.try_emplace({value.scenario, value.case_id, value.metric, value.unit}, history.trends.size());
            if (is_new) {
                history.trends.push_back({.scenario = value.scenario,
                                          .case_id = value.case_id,
                                          .metric = value.metric,
                                          .unit = value.unit,
                                          .better = value.better,
                                          .metric_class = value.metric_class});
                history.trends.back().points.resize(entries.size());
            }
            Trend& trend = history.trends[place->second];
            trend.points[run] = value.point;
            if (value.metric_class == model::MetricClass::noisy) {
                trend.metric_class = model::MetricClass::noisy;  // what varies in any run is judged as what varies
            }
        }
    }
    for (Trend& trend : history.trends) {
        trend.threshold = threshold_for(criteria.thresholds, trend.metric, trend.unit, trend.metric_class);
    }
    judge(history);
    history.findings = history_findings(history);
    return history;
}

Histories HistoryBuilder::finish(const Criteria& criteria)
{
    std::ranges::stable_sort(
        entries_, {}, [](const Entry& entry) { return std::tie(entry.run.started, entry.run.id, entry.run.name); });
    Histories found;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Entry*>> groups;
    std::map<std::string, std::string> names;  // of the runs seen
    for (const Entry& entry : entries_) {
        const auto [earlier, is_new] = names.emplace(entry.run.id, entry.run.name);
        if (!is_new && !entry.run.id.empty()) {
            found.left_out.push_back(fmt::format("{}: the run of {} again", entry.run.name, earlier->second));
            continue;
        }
        groups[{entry.scenario, entry.scenario_fingerprint, entry.machine_fingerprint}].push_back(&entry);
    }
    for (const auto& [key, entries] : groups) {
        if (entries.size() > 1) {
            found.histories.push_back(history_of(entries, criteria));
        } else {
            found.left_out.push_back(fmt::format("{}: the only run of {} with this scenario on this machine",
                                                 entries.front()->run.name, entries.front()->scenario));
        }
    }
    std::ranges::stable_sort(found.histories, std::ranges::greater{},
                             [](const History& history) { return history.runs.size(); });
    return found;
}

std::size_t count_changes(const History& history, Verdict verdict)
{
    std::size_t count = 0;
    for (const Trend& trend : history.trends) {
        count += static_cast<std::size_t>(std::ranges::count(trend.changes, verdict, &Change::verdict));
    }
    return count;
}

}  // namespace memsweep::measure
