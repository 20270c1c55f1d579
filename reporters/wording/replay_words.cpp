#include "reporters/wording/replay_words.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::reporters {
namespace {

using measure::least;
using measure::most;
using measure::replay_time;
using measure::ReplayVerdict;
using measure::summary_of;
using measure::WeighedReplay;
using measure::WeighedReplays;
using model::Unit;

std::string_view moment_of(std::string_view metric)
{
    return metric == model::metrics::resident_peak   ? "at the peak"
           : metric == model::metrics::resident_end  ? "at the end"
           : metric == model::metrics::resident_idle ? "after idling"
                                                     : "above the baseline at the peak";
}

std::string threads_part(const ReplayVerdict& verdict)
{
    return verdict.threads.empty()  ? ""
           : verdict.threads == "1" ? "on one thread: "
                                    : fmt::format("on {} threads: ", verdict.threads);
}

std::string names_of(const WeighedReplays& replays)
{
    std::string text;
    for (std::size_t i = 0; i < replays.size(); ++i) {
        const char* const before = i == 0 ? "" : i + 1 == replays.size() ? " and " : ", ";
        text += before + replays[i].name;
    }
    return text;
}

std::string choice_text(const WeighedReplays& replays)
{
    const char* const choice = replays.size() == 1 ? "" : replays.size() == 2 ? "either of " : "any of ";
    return choice + names_of(replays);
}

std::string unweighed_text(const measure::Unweighed& why)
{
    return why.is_of_device ? "memory is not weighed, since a device's is in no working set"
                            : fmt::format("memory is not weighed, since up to {} may be live at once in a replay of "
                                          "these threads, where {} was",
                                          measure::format_value(Unit::bytes, why.most_live_bytes),
                                          measure::format_value(Unit::bytes, why.recorded_bytes));
}

std::string none_text(const ReplayVerdict& verdict)
{
    if (verdict.chosen.empty()) {
        std::string text = fmt::format("none is best at all: take {} for time", names_of(verdict.fastest));
        for (std::size_t i = 0; i < verdict.memory.size(); ++i) {
            text += fmt::format(", {} for memory {}", names_of(verdict.smallest[i]), moment_of(verdict.memory[i]));
        }
        return text;
    }
    const std::string_view metric = verdict.memory.front();
    const WeighedReplay& fastest = least(verdict.replays, replay_time);
    const WeighedReplay& smallest = least(verdict.chosen, metric);
    return fmt::format(
        "none is best at both: take {} for time, or {} for memory; {} takes {} times the time of {} and holds {} times "
        "the memory",
        names_of(verdict.fastest), names_of(verdict.chosen), smallest.name,
        measure::format_factor(summary_of(smallest, replay_time).median / summary_of(fastest, replay_time).median),
        fastest.name,
        measure::format_factor(summary_of(smallest, metric).median /
                               std::max(summary_of(fastest, metric).median, 1.0)));
}

std::string answer_text(const ReplayVerdict& verdict)
{
    switch (verdict.answer) {
    case measure::ReplayAnswer::too_few_repetitions: {
        const auto of = std::ranges::find(verdict.replays, verdict.short_of, &WeighedReplay::report);
        return fmt::format("no verdict: {} has {}, too few for an interval; 6 are enough (-n 6)", of->name,
                           measure::counted(verdict.repetitions, "repetition"));
    }
    case measure::ReplayAnswer::no_difference:
        return fmt::format("no verdict: no difference between {} is shown in time{}", names_of(verdict.replays),
                           verdict.unweighed ? "; " + unweighed_text(*verdict.unweighed) : " or in memory");
    case measure::ReplayAnswer::take:
        if (verdict.unweighed) {
            return fmt::format("take {}: no other is shown to be faster; {}", choice_text(verdict.chosen),
                               unweighed_text(*verdict.unweighed));
        }
        return fmt::format("take {}: no other is shown to be faster or to hold less{}", choice_text(verdict.chosen),
                           verdict.chosen.size() == 1 ? "" : ", and between them no difference is shown");
    case measure::ReplayAnswer::none_is_best:
        return none_text(verdict);
    }
    return {};
}

}  // namespace

std::string verdict_text(const ReplayVerdict& verdict)
{
    return threads_part(verdict) + answer_text(verdict);
}

std::string figures_text(const ReplayVerdict& verdict)
{
    const auto median = [](Unit unit, const WeighedReplay& one, std::string_view metric) {
        return measure::format_value(unit, summary_of(one, metric).median);
    };
    const WeighedReplay& fastest = least(verdict.replays, replay_time);
    const WeighedReplay& slowest = most(verdict.replays, replay_time);
    std::string text = fmt::format("{}by the medians {} is fastest, {} per event against {} with {}",
                                   threads_part(verdict), fastest.name, median(Unit::seconds, fastest, replay_time),
                                   median(Unit::seconds, slowest, replay_time), slowest.name);
    for (const std::string_view metric : verdict.unweighed ? std::vector<std::string_view>{} : verdict.memory) {
        const WeighedReplay& smallest = least(verdict.replays, metric);
        const WeighedReplay& largest = most(verdict.replays, metric);
        text += fmt::format("; {} holds least, {} {} against {} with {}", smallest.name,
                            median(Unit::bytes, smallest, metric), moment_of(metric),
                            median(Unit::bytes, largest, metric), largest.name);
    }
    return text;
}

}  // namespace memsweep::reporters
