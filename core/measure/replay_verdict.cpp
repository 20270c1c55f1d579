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
#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/specs.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Unit;

// Differences below are no advice: a replay foretells memory to a few per cent, and its times are those of calls alone.
constexpr double least_difference_in_time = 0.02;
constexpr double least_difference_in_memory = 0.05;
constexpr double least_difference_bytes = 256.0 * 1024;
// As much more than was recorded may be live in a replay whose memory is weighed.
constexpr double most_live_beyond_recorded = 0.05;

// A moment at which memory is looked at, and the metric of old results that have none of these.
struct Moment {
    std::string_view metric;
    std::string_view when;
};
constexpr std::array moments{Moment{model::metrics::resident_peak, "at the peak"},
                             Moment{model::metrics::resident_end, "at the end"},
                             Moment{model::metrics::resident_idle, "after idling"}};
constexpr Moment above_baseline{model::metrics::working_set_peak_delta, "above the baseline at the peak"};

const model::Summary* summary_in(const CaseReport& report, std::string_view metric)
{
    const model::Metric* const found = model::find_metric(report, metric);
    return found != nullptr && found->summary ? &*found->summary : nullptr;
}

struct Weighed {
    std::string name;
    const CaseReport* report{};
    bool on_device{};
};

using Group = std::vector<Weighed>;

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

std::string listed(const Group& group)
{
    std::string text;
    for (std::size_t i = 0; i < group.size(); ++i) {
        const char* const before = i == 0 ? "" : i + 1 == group.size() ? " and " : ", ";
        text += before + group[i].name;
    }
    return text;
}

// The moments that every case of the group was looked at in.
std::vector<Moment> moments_of(const Group& group)
{
    std::vector<Moment> found;
    std::ranges::copy_if(moments, std::back_inserter(found), [&](const Moment& moment) {
        return std::ranges::all_of(
            group, [&](const Weighed& one) { return summary_in(*one.report, moment.metric) != nullptr; });
    });
    return found.empty() ? std::vector{above_baseline} : found;
}

const model::Summary& part_of(const Weighed& one, std::string_view metric)
{
    return *summary_in(*one.report, metric);
}

const Weighed& least(const Group& group, std::string_view metric)
{
    return *std::ranges::min_element(group, {}, [&](const Weighed& one) { return part_of(one, metric).median; });
}

const Weighed& most(const Group& group, std::string_view metric)
{
    return *std::ranges::max_element(group, {}, [&](const Weighed& one) { return part_of(one, metric).median; });
}

constexpr std::string_view time_per_event = model::metrics::time_per_event;

// Those that are not told apart from the least, or by so little that it is no advice.
Group leaders(const Group& group, std::string_view metric)
{
    const model::Summary& best = part_of(least(group, metric), metric);
    const bool is_time = metric == time_per_event;
    const double share = is_time ? least_difference_in_time : least_difference_in_memory;
    const double near = std::max(best.median * (1 + share), is_time ? 0 : best.median + least_difference_bytes);
    Group found;
    std::ranges::copy_if(group, std::back_inserter(found), [&](const Weighed& one) {
        const model::Summary& part = part_of(one, metric);
        return part.ci95->front() <= best.ci95->back() || part.median <= near;
    });
    return found;
}

Group common(const Group& one, const Group& other)
{
    Group found;
    std::ranges::copy_if(one, std::back_inserter(found), [&](const Weighed& member) {
        return std::ranges::find(other, member.name, &Weighed::name) != other.end();
    });
    return found;
}

constexpr std::string_view device_reason = "memory is not weighed, since a device's is in no working set";

// Why memory is not weighed; empty: it is.
std::string unweighed(const Group& group)
{
    if (std::ranges::any_of(group, &Weighed::on_device)) {
        return std::string{device_reason};
    }
    for (const Weighed& one : group) {
        const model::Summary* const bound = summary_in(*one.report, model::metrics::live_bytes_bound);
        const model::Summary* const recorded = summary_in(*one.report, model::metrics::live_bytes_peak);
        if (bound != nullptr && recorded != nullptr && bound->max > recorded->max * (1 + most_live_beyond_recorded)) {
            return fmt::format(
                "memory is not weighed, since up to {} may be live at once in a replay of these threads, "
                "where {} was",
                format_value(Unit::bytes, bound->max), format_value(Unit::bytes, recorded->max));
        }
    }
    return {};
}

std::string verdict_on_time(const Group& group, const std::string& reason)
{
    const Group fast = leaders(group, time_per_event);
    if (fast.size() == group.size()) {
        return fmt::format("no verdict: no difference between {} is shown in time; {}", listed(group), reason);
    }
    const char* const choice = fast.size() == 1 ? "" : fast.size() == 2 ? "either of " : "any of ";
    return fmt::format("take {}{}: no other is shown to be faster; {}", choice, listed(fast), reason);
}

std::string verdict_of_none(const Group& group, const Group& fast, const Group& small,
                            const std::vector<Moment>& looked_at)
{
    if (small.empty()) {
        std::string text = fmt::format("none is best at all: take {} for time", listed(fast));
        for (const Moment& moment : looked_at) {
            text += fmt::format(", {} for memory {}", listed(leaders(group, moment.metric)), moment.when);
        }
        return text;
    }
    const std::string_view metric = looked_at.front().metric;
    const Weighed& fastest = least(group, time_per_event);
    const Weighed& smallest = least(small, metric);
    return fmt::format(
        "none is best at both: take {} for time, or {} for memory; {} takes {} times the time of {} and "
        "holds {} times the memory",
        listed(fast), listed(small), smallest.name,
        format_factor(part_of(smallest, time_per_event).median / part_of(fastest, time_per_event).median), fastest.name,
        format_factor(part_of(smallest, metric).median / std::max(part_of(fastest, metric).median, 1.0)));
}

std::string verdict(const Group& group)
{
    const std::vector<Moment> looked_at = moments_of(group);
    for (const Weighed& one : group) {
        const model::Summary& time = part_of(one, time_per_event);
        const model::Summary& bytes = part_of(one, looked_at.front().metric);
        if (!time.ci95 || !bytes.ci95) {
            return fmt::format("no verdict: {} has {}, too few for an interval; 6 are enough (-n 6)", one.name,
                               counted(std::min(time.n, bytes.n), "repetition"));
        }
    }
    if (const std::string reason = unweighed(group); !reason.empty()) {
        return verdict_on_time(group, reason);
    }
    const Group fast = leaders(group, time_per_event);
    Group small = group;
    for (const Moment& moment : looked_at) {
        small = common(small, leaders(group, moment.metric));
    }
    const Group both = common(fast, small);
    if (both.size() == group.size()) {
        return fmt::format("no verdict: no difference between {} is shown in time or in memory", listed(group));
    }
    if (both.size() > 1) {
        return fmt::format("take {} {}: no other is shown to be faster or to hold less, and between them no difference "
                           "is shown",
                           both.size() == 2 ? "either of" : "any of", listed(both));
    }
    if (both.size() == 1) {
        return fmt::format("take {}: no other is shown to be faster or to hold less", both.front().name);
    }
    return verdict_of_none(group, fast, small, looked_at);
}

std::string figures(const Group& group)
{
    const auto time = [](const Weighed& one) {
        return format_value(Unit::seconds, part_of(one, time_per_event).median);
    };
    const Weighed& fastest = least(group, time_per_event);
    const Weighed& slowest = most(group, time_per_event);
    std::string text = fmt::format("by the medians {} is fastest, {} per event against {} with {}", fastest.name,
                                   time(fastest), time(slowest), slowest.name);
    if (!unweighed(group).empty()) {
        return text;
    }
    for (const Moment& moment : moments_of(group)) {
        const Weighed& smallest = least(group, moment.metric);
        const Weighed& largest = most(group, moment.metric);
        text += fmt::format("; {} holds least, {} {} against {} with {}", smallest.name,
                            format_value(Unit::bytes, part_of(smallest, moment.metric).median), moment.when,
                            format_value(Unit::bytes, part_of(largest, moment.metric).median), largest.name);
    }
    return text;
}

std::string threads_text(std::string_view threads)
{
    return threads == "1" ? "on one thread: " : fmt::format("on {} threads: ", threads);
}

}  // namespace

bool is_on_device(const CaseReport& replay)
{
    const std::string on = value_on(replay, "on").value_or("");
    const auto kind = model::value_of<model::ResourceKind>(model::driver_memory_name(on).kind);
    return kind && model::is_on_device(*kind);
}

std::vector<std::string> replay_sentences(std::span<const CaseReport> cases)
{
    std::vector<const CaseReport*> replays;
    for (const CaseReport& one : cases) {
        if (is_replay(one)) {
            replays.push_back(&one);
        }
    }
    std::set<std::string> names = varying(replays);
    std::map<std::pair<std::string, std::string>, Group> groups;
    const bool several_threads = names.erase("threads") != 0;
    for (const CaseReport* one : replays) {
        const std::string threads = several_threads ? value_on(*one, "threads").value_or("") : std::string{};
        groups[{one->scenario, threads}].push_back(
            {.name = name_of(*one, names), .report = one, .on_device = is_on_device(*one)});
    }
    std::vector<std::string> sentences;
    for (const auto& [key, group] : groups) {
        if (group.size() > 1) {
            const std::string where = several_threads ? threads_text(key.second) : std::string{};
            sentences.push_back(where + verdict(group));
            sentences.push_back(where + figures(group));
        }
    }
    return sentences;
}

}  // namespace memsweep::measure
