#include "core/measure/history.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/change_points.hpp"
#include "core/measure/format.hpp"
#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

static_assert(min_runs == 2 * min_segment);

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

// An exact counter is on another level as soon as its median is another one, by more than is forgiven. Each run is held
// against the last level and not against the run before it, lest it drift away in small steps.
void judge_exact_trend(Trend& trend)
{
    const Sequence sequence = sequence_of(trend);
    std::size_t level = 0;
    for (std::size_t i = 1; i < sequence.runs.size(); ++i) {
        const double before = sequence.medians[level];
        const double after = sequence.medians[i];
        Judgement judgement = judge_exact(observed(trend, before, after));
        if (judgement.verdict != Verdict::same) {
            level = i;
            trend.changes.push_back({.run = sequence.runs[i],
                                     .verdict = judgement.verdict,
                                     .before = before,
                                     .after = after,
                                     .shift = hodges_lehmann(std::array{before}, std::array{after}),
                                     .q = {},
                                     .reason = std::move(judgement.reason)});
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
    const model::Role role = model::role_of(trend.metric);
    change.verdict =
        role == model::Role::machine || role == model::Role::context ? Verdict::informational : judgement.verdict;
    change.reason = std::move(judgement.reason);
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
            trend.too_few_runs = sequence.runs.size();
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

struct FoundChange {
    const Trend* trend{};
    const Change* change{};
};

std::vector<FoundChange> changes_of(const History& history, Verdict verdict)
{
    std::vector<FoundChange> found;
    for (const Trend& trend : history.trends) {
        for (const Change& change : trend.changes) {
            if (change.verdict == verdict) {
                found.push_back({&trend, &change});
            }
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, [](const FoundChange& one) { return one.change->run; });
    return found;
}

void add(const History& history, Verdict verdict, Importance importance, std::vector<Finding>& findings)
{
    constexpr std::size_t max_shown = 6;
    const std::vector<FoundChange> found = changes_of(history, verdict);
    for (std::size_t i = 0; i < std::min(found.size(), max_shown); ++i) {
        const auto& [trend, change] = found[i];
        findings.push_back(
            {.kind = FindingKind::level_changed,
             .importance = importance,
             .case_id = trend->case_id,
             .metrics = {{trend->metric, trend->unit, change->after, change->before, change->shift, change->verdict}},
             .about = place_of(history, change->run)});
    }
    if (found.size() > max_shown) {
        findings.push_back({.kind = FindingKind::more_levels,
                            .importance = importance,
                            .metrics = {{.verdict = verdict}},
                            .count = found.size() - max_shown});
    }
}

std::vector<Finding> history_findings(const History& history)
{
    std::vector<Finding> findings;
    add(history, Verdict::regressed, Importance::failure, findings);
    add(history, Verdict::informational, Importance::warning, findings);
    add(history, Verdict::improved, Importance::note, findings);
    const bool any_noisy = std::ranges::any_of(
        history.trends, [](const Trend& trend) { return trend.metric_class == model::MetricClass::noisy; });
    const std::size_t runs = history.runs.size();
    if (any_noisy && history.judged == 0) {
        findings.push_back(
            {.kind = FindingKind::exact_counters_only, .importance = Importance::warning, .count = runs});
    }
    if (const auto partial = std::ranges::count(history.runs, true, &HistoryRun::interrupted); partial > 0) {
        findings.push_back({.kind = FindingKind::unfinished_runs,
                            .importance = Importance::warning,
                            .count = static_cast<std::size_t>(partial),
                            .total = runs});
    }
    return findings;
}

}  // namespace

void HistoryBuilder::add(const std::string& name, const model::RunReport& report)
{
    Entry& entry = entries_.emplace_back();
    const model::RunInfo& run = report.run;
    entry.subject = {
        run.scenario_name, run.scenario_description,
        fmt::format("{}, {}", processor_text(report.machine), base::format_size(report.machine.memory_bytes)),
        run.scenario_fingerprint, report.machine.fingerprint};
    entry.run = {name, run.id, run.started, report.machine.host, version_text(report.tool), run.interrupted};
    for (const model::CaseReport& one : report.cases) {
        for (const model::Metric& metric : one.metrics) {
            if (one.status == model::Status::ok && metric.summary) {
                entry.values.push_back(
                    {{one.scenario, one.id, metric.name, metric.unit, metric.better, observed_class(metric)},
                     {metric.summary->n, metric.summary->median, metric.summary->ci95}});
            }
        }
    }
}

History HistoryBuilder::history_of(const std::vector<const Entry*>& entries, const Criteria& criteria)
{
    History history{entries.back()->subject};
    std::map<std::tuple<std::string, std::string, std::string, model::Unit>, std::size_t> index;
    for (std::size_t run = 0; run < entries.size(); ++run) {
        history.runs.push_back(entries[run]->run);
        for (const auto& [subject, point] : entries[run]->values) {
            if (!criteria.only.empty() && !criteria.only.contains(subject.metric)) {
                continue;
            }
            const auto [place, is_new] = index.try_emplace(
                {subject.scenario, subject.case_id, subject.metric, subject.unit}, history.trends.size());
            if (is_new) {
                history.trends.push_back({subject});
                history.trends.back().points.resize(entries.size());
            }
            Trend& trend = history.trends[place->second];
            trend.points[run] = point;
            if (subject.metric_class == model::MetricClass::noisy) {
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
    std::map<std::string, std::string> names;  // runs seen, by id
    for (const Entry& entry : entries_) {
        const auto [earlier, is_new] = names.emplace(entry.run.id, entry.run.name);
        if (!is_new && !entry.run.id.empty()) {
            found.left_out.push_back({.name = entry.run.name, .again_of = earlier->second});
            continue;
        }
        const HistorySubject& subject = entry.subject;
        groups[{subject.scenario, subject.scenario_fingerprint, subject.machine_fingerprint}].push_back(&entry);
    }
    for (const auto& [key, entries] : groups) {
        if (entries.size() > 1) {
            found.histories.push_back(history_of(entries, criteria));
        } else {
            found.left_out.push_back(
                {.name = entries.front()->run.name, .scenario = entries.front()->subject.scenario});
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

RunPlace place_of(const History& history, std::size_t run)
{
    return {run, history.runs.size(), history.runs[run].started, history.runs[run].name};
}

}  // namespace memsweep::measure
