#include "core/measure/replay_verdict.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/cases.hpp"
#include "core/measure/format.hpp"
#include "core/model/specs.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Unit;

struct Weighed {
    std::string name;
    model::Summary time;   // per event
    model::Summary bytes;  // resident above the baseline, at the peak
    bool on_device{};
};

using Group = std::vector<Weighed>;
using Part = model::Summary Weighed::*;

const model::Summary* summary_in(const CaseReport& report, std::string_view metric)
{
    const model::Metric* const found = model::find_metric(report, metric);
    return found != nullptr && found->summary ? &*found->summary : nullptr;
}

bool is_replay(const CaseReport& report)
{
    return report.status == model::Status::ok && value_on(report, "on") != "null" &&
           summary_in(report, "time_per_event") != nullptr && summary_in(report, "working_set_peak_delta") != nullptr;
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

const Weighed& least(const Group& group, Part part)
{
    return *std::ranges::min_element(group, {}, [&](const Weighed& one) { return (one.*part).median; });
}

const Weighed& most(const Group& group, Part part)
{
    return *std::ranges::max_element(group, {}, [&](const Weighed& one) { return (one.*part).median; });
}

// Those that are not told apart from the least.
Group leaders(const Group& group, Part part)
{
    const double bound = (least(group, part).*part).ci95->back();
    Group found;
    std::ranges::copy_if(group, std::back_inserter(found),
                         [&](const Weighed& one) { return (one.*part).ci95->front() <= bound; });
    return found;
}

constexpr std::string_view unweighed = "; memory is not weighed, since a device's is in no working set";

std::string verdict_on_time(const Group& group)
{
    const Group fast = leaders(group, &Weighed::time);
    if (fast.size() == group.size()) {
        return fmt::format("no verdict: no difference between {} is shown in time{}", listed(group), unweighed);
    }
    const char* const choice = fast.size() == 1 ? "" : fast.size() == 2 ? "either of " : "any of ";
    return fmt::format("take {}{}: no other is shown to be faster{}", choice, listed(fast), unweighed);
}

std::string verdict(const Group& group)
{
    for (const Weighed& one : group) {
        if (!one.time.ci95 || !one.bytes.ci95) {
            return fmt::format("no verdict: {} has {}, too few for an interval; 6 are enough (-n 6)", one.name,
                               counted(std::min(one.time.n, one.bytes.n), "repetition"));
        }
    }
    if (std::ranges::any_of(group, &Weighed::on_device)) {
        return verdict_on_time(group);
    }
    const Group fast = leaders(group, &Weighed::time);
    const Group small = leaders(group, &Weighed::bytes);
    Group both;
    std::ranges::copy_if(fast, std::back_inserter(both), [&](const Weighed& one) {
        return std::ranges::find(small, one.name, &Weighed::name) != small.end();
    });
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
    const Weighed& fastest = least(group, &Weighed::time);
    const Weighed& smallest = least(group, &Weighed::bytes);
    return fmt::format("none is best at both: take {} for time, or {} for memory; {} takes {} times the time of {} and "
                       "holds {} times the memory",
                       listed(fast), listed(small), smallest.name,
                       format_factor(smallest.time.median / fastest.time.median), fastest.name,
                       format_factor(smallest.bytes.median / std::max(fastest.bytes.median, 1.0)));
}

std::string figures(const Group& group)
{
    const auto time = [](const Weighed& one) { return format_value(Unit::seconds, one.time.median); };
    const auto bytes = [](const Weighed& one) { return format_value(Unit::bytes, one.bytes.median); };
    const Weighed& fastest = least(group, &Weighed::time);
    const Weighed& slowest = most(group, &Weighed::time);
    if (std::ranges::any_of(group, &Weighed::on_device)) {
        return fmt::format("by the medians {} is fastest, {} per event against {} with {}", fastest.name, time(fastest),
                           time(slowest), slowest.name);
    }
    const Weighed& smallest = least(group, &Weighed::bytes);
    const Weighed& largest = most(group, &Weighed::bytes);
    return fmt::format("by the medians {} is fastest, {} per event against {} with {}; {} holds least, {} above the "
                       "baseline at the peak against {} with {}",
                       fastest.name, time(fastest), time(slowest), slowest.name, smallest.name, bytes(smallest),
                       bytes(largest), largest.name);
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
        groups[{one->scenario, threads}].push_back({.name = name_of(*one, names),
                                                    .time = *summary_in(*one, "time_per_event"),
                                                    .bytes = *summary_in(*one, "working_set_peak_delta"),
                                                    .on_device = is_on_device(*one)});
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
