#include "reporters/wording/reason_words.hpp"

#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "reporters/wording/shift_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::counted;
using measure::format_percent;
using measure::format_value;
using model::Unit;

std::string_view side(bool is_candidate)
{
    return is_candidate ? "candidate" : "base";
}

std::string text_of(std::monostate)
{
    return {};
}

std::string text_of(measure::Rule rule)
{
    switch (rule) {
    case measure::Rule::units_differ:
        return "its unit or direction differs between the two";
    case measure::Rule::of_the_machine:
        return "what the machine costs, not what the case does";
    case measure::Rule::part_of_time:
        return "a part of the time, which is judged as a whole";
    case measure::Rule::explains_others:
        return "it explains the others; --metric or --threshold judges it";
    case measure::Rule::fleet_explains:
        return "it explains the others; --threshold judges it";
    case measure::Rule::unit_is_shown:
        return "metrics in this unit are asked to be shown only";
    case measure::Rule::is_shown:
        return "asked to be shown only";
    case measure::Rule::no_round:
        return "no round in which both were measured";
    }
    return {};
}

std::string text_of(const measure::OneSided& reason)
{
    return fmt::format("not in the {}", side(!reason.is_in_candidate));
}

std::string state_text(model::Status status, const std::string& reason)
{
    return reason.empty() ? std::string{model::name_of(status)} : fmt::format("{}: {}", model::name_of(status), reason);
}

std::string text_of(const measure::CaseStates& reason)
{
    return fmt::format("base {}; candidate {}", state_text(reason.base, reason.base_reason),
                       state_text(reason.candidate, reason.candidate_reason));
}

std::string text_of(const measure::NoValue& reason)
{
    return fmt::format("no value in the {}{}{}", side(!reason.is_of_base), reason.reason.empty() ? "" : ": ",
                       reason.reason);
}

std::string text_of(const measure::CounterChange& reason)
{
    const std::string change = instead_of(reason.unit, reason.base, reason.candidate);
    const std::string said = !reason.is_allowed ? change + "; this counter is exact, so any change is real"
                             : reason.base != reason.candidate ? change + ", which is allowed"
                                                               : std::string{"no change"};
    return reason.wanted == 0 ? said
                              : fmt::format("{}: after {} of the {} that show that it repeats", said,
                                            counted(reason.rounds, "round"), reason.wanted);
}

std::string text_of(const measure::ShownShift& reason)
{
    const std::string change = signed_shift(reason.unit, reason.shift);
    const std::string allowed = threshold_text(reason.threshold, reason.unit);
    switch (reason.shown) {
    case measure::Shown::beyond:
        return fmt::format("{}, more than the {} allowed; q = {:.2g}", change, allowed, reason.q);
    case measure::Shown::within:
        return fmt::format("{}, within the {} allowed", change, allowed);
    case measure::Shown::interval_beyond:
        return fmt::format("{}: within the {} allowed, but the interval reaches beyond", change, allowed);
    case measure::Shown::by_chance:
        return fmt::format("{}: more than the {} allowed, but chance could do it (q = {:.2g})", change, allowed,
                           reason.q);
    case measure::Shown::interval_of_none:
        return fmt::format("{}: more than the {} allowed, but the interval reaches no change", change, allowed);
    }
    return {};
}

std::string text_of(const measure::TooFewValues& reason)
{
    return fmt::format("{} against {} repetitions; to show a change among {}, {} of each are needed", reason.base,
                       reason.candidate, counted(reason.family, "noisy metric"), reason.needed);
}

std::string text_of(const measure::TooFewHosts& reason)
{
    return fmt::format("{} in both; {} are needed", counted(reason.hosts, "host"), reason.needed);
}

std::string text_of(const measure::ShiftInRounds& reason)
{
    const std::string change = signed_shift(reason.unit, reason.shift);
    const std::string allowed = threshold_text(reason.threshold, reason.unit);
    const std::string rounds = counted(reason.rounds, "round");
    switch (reason.say) {
    case measure::RoundsSay::changed:
        return fmt::format("{}, more than the {} allowed; no change is ruled out by {}", change, allowed, rounds);
    case measure::RoundsSay::same:
        return fmt::format("{}, within the {} allowed; twice that is ruled out by {}", change, allowed, rounds);
    case measure::RoundsSay::too_few:
        return fmt::format("{}: after {} of the {} that can show a change", change, rounds, reason.least);
    case measure::RoundsSay::open:
        return fmt::format("{}: {} did not tell a change beyond the {} allowed from none", change, rounds, allowed);
    }
    return {};
}

std::string text_of(const measure::BusierMachine& reason)
{
    return fmt::format("the machine was busier{}: {} within the {} allowed",
                       reason.is_under_base ? " under the base" : "", machine_text(reason.contrast, reason.base_median),
                       threshold_text(reason.threshold, reason.unit));
}

std::string text_of(const measure::SlowerMachine& reason)
{
    return fmt::format(
        "the machine was {} % slower under the {} ({} took {}, under the {} {}{}): without that {} % is left, within "
        "the {} allowed",
        base::format_number(reason.by * 100, 1), side(reason.is_under_candidate), work_text(reason.work),
        format_value(Unit::seconds, reason.slower), side(!reason.is_under_candidate),
        format_value(Unit::seconds, reason.faster),
        reason.share < 1 ? fmt::format(", and such work is {} of the case", format_percent(reason.share))
                         : std::string{},
        base::format_number(reason.left * 100, 1), threshold_text(reason.threshold, reason.unit));
}

std::string text_of(const measure::OtherTurns& reason)
{
    return fmt::format("the machine was busier under the {}: the case waited for a processor for {} of its time, and "
                       "for {} under the {}; such a time follows how threads take turns",
                       side(reason.is_under_candidate), format_percent(reason.more), format_percent(reason.less),
                       side(!reason.is_under_candidate));
}

std::string text_of(const measure::ColdCaches& reason)
{
    return fmt::format("the machine was busier under the {}: the case waited {} longer for a processor, and found its "
                       "caches filled by others each time",
                       side(reason.is_under_candidate), format_value(Unit::seconds, reason.waited));
}

std::string text_of(const measure::DisturbedRuns& reason)
{
    std::vector<std::string> sides;
    const auto add = [&](std::size_t disturbed, std::size_t all, bool is_candidate) {
        if (disturbed > 0) {
            sides.push_back(fmt::format("{} of {} repetitions of the {}", disturbed, all, side(is_candidate)));
        }
    };
    add(reason.base_disturbed, reason.base_all, false);
    add(reason.candidate_disturbed, reason.candidate_all, true);
    return fmt::format("the machine was busy: in {} the case waited for a processor", fmt::join(sides, " and "));
}

std::string text_of(const measure::FastestRuns& reason)
{
    const bool slower = reason.is_candidate_slower;
    const std::string allowed = threshold_text(reason.threshold, reason.unit);
    const std::string repetition =
        fmt::format("the {}'s fastest repetition, {},", side(slower), format_value(reason.unit, reason.fastest));
    const std::string other =
        fmt::format("the {}'s median of {}", side(!slower), format_value(reason.unit, reason.usual));
    if (!reason.slower_work) {
        return fmt::format("{} is not beyond the {} allowed above {}: what other work adds, it has least of",
                           repetition, allowed, other);
    }
    return fmt::format(
        "the machine was {} % slower under the {} ({}): without that {} is not beyond the {} allowed above {}",
        base::format_number(reason.slower_by * 100, 1), side(slower), work_text(*reason.slower_work), repetition,
        allowed, other);
}

}  // namespace

std::string_view work_text(measure::TimedWork work)
{
    switch (work) {
    case measure::TimedWork::computation:
        return "a computation";
    case measure::TimedWork::copy:
        return "a copy of 4 MiB";
    case measure::TimedWork::first_touch:
        return "the first touch of 1 MiB";
    case measure::TimedWork::release:
        return "the return of 8 MiB";
    case measure::TimedWork::own_faults:
        return "the kernel's part of the case, for each page fault,";
    }
    return {};
}

std::string machine_text(const measure::MachineContrast& machine, double base)
{
    const auto shown = [](double seconds) { return format_value(Unit::seconds, seconds); };
    const double explained = machine.run_delay + machine.fault_price;
    const bool is_split = explained <= measure::most_explained * machine.extra;
    // "explains 88 % (7.04 ms)"; where shares cannot be, "took 7.04 ms more"
    const auto part = [&](double seconds, std::string_view verb) {
        return is_split
                   ? fmt::format("{} {} ({})", verb, measure::whole_percent(seconds / machine.extra), shown(seconds))
                   : fmt::format("took {} more", shown(seconds));
    };
    std::vector<std::string> parts;
    if (machine.run_delay > 0) {
        parts.push_back("waiting for a processor " + part(machine.run_delay, "explains"));
    }
    if (machine.fault_price > 0) {
        parts.push_back(fmt::format("page faults at {} each instead of {} {}", shown(machine.price_after),
                                    shown(machine.price_before), part(machine.fault_price, "explain")));
    }
    const double left = machine.extra - explained;
    return fmt::format("of {} more, {}{}; what is left, {} % of the base, is", shown(machine.extra),
                       fmt::join(parts, ", "), is_split ? "" : ": it was too busy to split them",
                       base::format_number(base > 0 ? left / base * 100 : 0.0, 1));
}

std::string reason_text(const measure::Reason& reason)
{
    std::string text = std::visit([](const auto& about) { return text_of(about); }, reason.about);
    if (reason.names_apart > 0) {
        text += "; their names differ by " + counted(reason.names_apart, "character");
    }
    if (reason.waited_unevenly) {
        text += "; it waited too unevenly to tell, and took the same processor time";
    }
    return text;
}

}  // namespace memsweep::reporters
