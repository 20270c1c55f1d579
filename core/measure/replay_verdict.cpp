#include "core/measure/replay_verdict.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/model/specs.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

// Differences below are no advice: a replay foretells memory to a few per cent, and its times are those of calls alone.
constexpr double least_difference_in_time = 0.02;
constexpr double least_difference_in_memory = 0.05;
constexpr double least_difference_bytes = 256.0 * 1024;
// As much more than was recorded may be live in a replay whose memory is weighed.
constexpr double most_live_beyond_recorded = 0.05;

// The metrics of the moments at which memory is looked at, and that of old results, which have none of these.
constexpr std::array moments{model::metrics::resident_peak, model::metrics::resident_end,
                             model::metrics::resident_idle};
constexpr std::string_view above_baseline = model::metrics::working_set_peak_delta;

const model::Summary* summary_in(const CaseReport& report, std::string_view metric)
{
    const model::Metric* const found = model::find_metric(report, metric);
    return found != nullptr && found->summary ? &*found->summary : nullptr;
}

bool is_replay(const CaseReport& report)
{
    return report.status == model::Status::ok && value_on(report, "on") != "null" &&
           summary_in(report, model::metrics::time_per_event) != nullptr &&
           summary_in(report, model::metrics::working_set_peak_delta) != nullptr;
}

// The parameters in which the replays differ.
std::set<std::string> varying(const std::vector<const CaseReport*>& replays)
{
    std::set<std::string> names;
    for (const CaseReport* one : replays) {
        for (const model::Param& param : one->params) {
            if (value_on(*one, param.name) != value_on(*replays.front(), param.name)) {
                names.insert(param.name);
            }
        }
    }
    return names;
}

std::string name_of(const CaseReport& report, const std::set<std::string>& names)
{
    std::vector<std::string> values;
    for (const model::Param& param : report.params) {
        if (names.contains(param.name)) {
            values.push_back(value_on(report, param.name).value_or(""));
        }
    }
    return values.empty() ? report.id : fmt::format("{}", fmt::join(values, " "));
}

// The moments that every case of the group was looked at in.
std::vector<std::string_view> moments_of(const WeighedReplays& group)
{
    std::vector<std::string_view> found;
    std::ranges::copy_if(moments, std::back_inserter(found), [&](std::string_view metric) {
        return std::ranges::all_of(
            group, [&](const WeighedReplay& one) { return summary_in(*one.report, metric) != nullptr; });
    });
    return found.empty() ? std::vector{above_baseline} : found;
}

// Those that are not told apart from the least, or by so little that it is no advice.
WeighedReplays leaders(const WeighedReplays& group, std::string_view metric)
{
    const model::Summary& best = summary_of(least(group, metric), metric);
    const bool is_time = metric == replay_time;
    const double share = is_time ? least_difference_in_time : least_difference_in_memory;
    const double near = std::max(best.median * (1 + share), is_time ? 0 : best.median + least_difference_bytes);
    WeighedReplays found;
    std::ranges::copy_if(group, std::back_inserter(found), [&](const WeighedReplay& one) {
        const model::Summary& part = summary_of(one, metric);
        return part.ci95->front() <= best.ci95->back() || part.median <= near;
    });
    return found;
}

WeighedReplays common(const WeighedReplays& one, const WeighedReplays& other)
{
    WeighedReplays found;
    std::ranges::copy_if(one, std::back_inserter(found), [&](const WeighedReplay& member) {
        return std::ranges::find(other, member.name, &WeighedReplay::name) != other.end();
    });
    return found;
}

std::optional<Unweighed> why_unweighed(const WeighedReplays& group)
{
    if (std::ranges::any_of(group, [](const WeighedReplay& one) { return is_on_device(*one.report); })) {
        return Unweighed{.is_of_device = true};
    }
    for (const WeighedReplay& one : group) {
        const model::Summary* const bound = summary_in(*one.report, model::metrics::live_bytes_bound);
        const model::Summary* const recorded = summary_in(*one.report, model::metrics::live_bytes_peak);
        if (bound != nullptr && recorded != nullptr && bound->max > recorded->max * (1 + most_live_beyond_recorded)) {
            return Unweighed{.most_live_bytes = bound->max, .recorded_bytes = recorded->max};
        }
    }
    return std::nullopt;
}

// Those that no other is shown to be better than at anything, if there are any.
WeighedReplays best_of(const ReplayVerdict& verdict)
{
    WeighedReplays best = verdict.fastest;
    for (const WeighedReplays& smallest : verdict.smallest) {
        best = common(best, smallest);
    }
    return best;
}

void decide(ReplayVerdict& verdict)
{
    for (const WeighedReplay& one : verdict.replays) {
        const model::Summary& time = summary_of(one, replay_time);
        std::vector<const model::Summary*> judged{&time};
        for (const std::string_view metric : verdict.memory) {
            judged.push_back(&summary_of(one, metric));
        }
        if (std::ranges::any_of(judged, [](const model::Summary* part) { return !part->ci95; })) {
            verdict.answer = ReplayAnswer::too_few_repetitions;
            verdict.short_of = one.report;
            verdict.repetitions = (*std::ranges::min_element(judged, {}, &model::Summary::n))->n;
            return;
        }
    }
    verdict.fastest = leaders(verdict.replays, replay_time);
    for (const std::string_view metric : verdict.unweighed ? std::vector<std::string_view>{} : verdict.memory) {
        verdict.smallest.push_back(leaders(verdict.replays, metric));
    }
    verdict.chosen = best_of(verdict);
    if (verdict.chosen.size() == verdict.replays.size()) {
        verdict.answer = ReplayAnswer::no_difference;
    } else if (!verdict.chosen.empty()) {
        verdict.answer = ReplayAnswer::take;
    } else {
        verdict.answer = ReplayAnswer::none_is_best;
        verdict.chosen = verdict.replays;
        for (const WeighedReplays& smallest : verdict.smallest) {
            verdict.chosen = common(verdict.chosen, smallest);
        }
    }
}

}  // namespace

bool is_on_device(const CaseReport& replay)
{
    const std::string on = value_on(replay, "on").value_or("");
    const auto kind = model::value_of<model::ResourceKind>(model::driver_memory_name(on).kind);
    return kind && model::is_on_device(*kind);
}

const model::Summary& summary_of(const WeighedReplay& replay, std::string_view metric)
{
    return *summary_in(*replay.report, metric);
}

const WeighedReplay& least(const WeighedReplays& replays, std::string_view metric)
{
    return *std::ranges::min_element(replays, {},
                                     [&](const WeighedReplay& one) { return summary_of(one, metric).median; });
}

const WeighedReplay& most(const WeighedReplays& replays, std::string_view metric)
{
    return *std::ranges::max_element(replays, {},
                                     [&](const WeighedReplay& one) { return summary_of(one, metric).median; });
}

std::vector<ReplayVerdict> replay_verdicts(std::span<const CaseReport> cases)
{
    std::vector<const CaseReport*> replays;
    for (const CaseReport& one : cases) {
        if (is_replay(one)) {
            replays.push_back(&one);
        }
    }
    std::set<std::string> names = varying(replays);
    std::map<std::pair<std::string, std::string>, WeighedReplays> groups;
    const bool several_threads = names.erase("threads") != 0;
    for (const CaseReport* one : replays) {
        const std::string threads = several_threads ? value_on(*one, "threads").value_or("") : std::string{};
        groups[{one->scenario, threads}].push_back({.name = name_of(*one, names), .report = one});
    }
    std::vector<ReplayVerdict> verdicts;
    for (auto& [key, group] : groups) {
        if (group.size() > 1) {
            ReplayVerdict& verdict = verdicts.emplace_back();
            verdict.threads = key.second;
            verdict.memory = moments_of(group);
            verdict.unweighed = why_unweighed(group);
            verdict.replays = std::move(group);
            decide(verdict);
        }
    }
    return verdicts;
}

}  // namespace memsweep::measure
