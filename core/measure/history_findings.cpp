#include "core/measure/history.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/measure/format.hpp"

namespace memsweep::measure {
namespace {

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

std::string sentence(const History& history, const FoundChange& found)
{
    const Change& change = *found.change;
    const std::string what = change.verdict == Verdict::informational
                                 ? "the machine itself changed: " + found.trend->metric
                                 : fmt::format("{} {}", found.trend->metric, model::name_of(change.verdict));
    return fmt::format("{}: {} {} from {} on ({})", found.trend->case_id, what, change_text(*found.trend, change),
                       run_text(history, change.run), history.runs[change.run].name);
}

void add(const History& history, Verdict verdict, Importance importance, std::vector<Finding>& findings)
{
    constexpr std::size_t max_shown = 6;
    const std::vector<FoundChange> found = changes_of(history, verdict);
    for (std::size_t i = 0; i < std::min(found.size(), max_shown); ++i) {
        findings.push_back({importance, sentence(history, found[i])});
    }
    if (found.size() > max_shown) {
        findings.push_back(
            {importance, fmt::format("{} more {}; the table of changes has them all", found.size() - max_shown,
                                     verdict == Verdict::informational ? "of the machine" : model::name_of(verdict))});
    }
}

}  // namespace

std::string change_text(const Trend& trend, const Change& change)
{
    return shift_text(trend.unit, change.shift, change.before, change.after);
}

std::string run_text(const History& history, std::size_t run)
{
    return fmt::format("run {} of {}, {}", run + 1, history.runs.size(), history.runs[run].started);
}

std::vector<Finding> history_findings(const History& history)
{
    std::vector<Finding> findings;
    add(history, Verdict::regressed, Importance::failure, findings);
    add(history, Verdict::informational, Importance::warning, findings);
    add(history, Verdict::improved, Importance::note, findings);
    const bool any_noisy = std::ranges::any_of(
        history.trends, [](const Trend& trend) { return trend.metric_class == model::MetricClass::noisy; });
    if (any_noisy && history.judged == 0) {
        findings.push_back({Importance::warning,
                            fmt::format("{} runs show changes of exact counters only: {} are needed for what varies",
                                        history.runs.size(), min_runs)});
    }
    const auto partial = std::ranges::count(history.runs, true, &HistoryRun::interrupted);
    if (partial > 0) {
        findings.push_back(
            {Importance::warning,
             fmt::format("{} of {} runs did not finish; what they measured is shown", partial, history.runs.size())});
    }
    return findings;
}

}  // namespace memsweep::measure
