// The reason for a verdict, as data: the rule that decided, and the numbers that this rule used. reporters/wording
// turns the reason into a sentence.
//
// Units    medians, shifts and differences in the metric's unit; shares as fractions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/measure/statistics.hpp"
#include "core/measure/threshold.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/model/metric.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Rules that decide without the metric's values.
enum class Rule : std::uint8_t {
    units_differ,     // the sides give the metric different units, or disagree on whether lower is better
    of_the_machine,   // the metric describes the machine, not the case
    part_of_time,     // the metric is a part of a time, and only the whole time is judged
    explains_others,  // the metric only explains other metrics; judged if --metric or --threshold names it
    fleet_explains,   // in a fleet, the metric only explains other metrics; judged if --threshold names it
    unit_is_shown,    // the user asked only to show metrics in this unit
    is_shown,         // the user asked only to show this metric
    no_round,         // no round measured both sides
};

// Only one side has the case or the metric.
struct OneSided {
    bool is_in_candidate{};
};

// Two cases, at least one of which has a status other than ok.
struct CaseStates {
    model::Status base{}, candidate{};
    std::string base_reason, candidate_reason;
};

struct NoValue {
    bool is_of_base{};
    std::string reason;
};

// An exact counter, which is judged by its medians.
struct CounterChange {
    model::Unit unit{};
    double base{}, candidate{};
    bool is_allowed{};
    std::size_t rounds{}, wanted{};  // rounds so far; rounds needed to show a constant counter, 0: there are enough
};

enum class Shown : std::uint8_t {
    beyond,           // the change is more than allowed and not chance, and its interval does not include zero
    within,           // the change and its interval are within the threshold
    interval_beyond,  // the change is within the threshold, but its interval is not
    by_chance,        // the change is more than allowed, but may be chance
    interval_of_none  // the change is more than allowed, but its interval includes zero
};

// A noisy metric: the shift between two samples.
struct ShownShift {
    model::Unit unit{};
    Shift shift;  // with an interval
    Threshold threshold;
    double q{};
    Shown shown{};
};

struct TooFewValues {
    std::size_t base{}, candidate{};
    // `family`: how many metrics were tested together. `needed`: how many values each side needs to show a change among
    // them.
    std::size_t family{}, needed{};
};

struct TooFewHosts {
    std::size_t hosts{}, needed{};
};

enum class RoundsSay : std::uint8_t { changed, same, too_few, open };

// A noisy metric that was measured in rounds.
struct ShiftInRounds {
    model::Unit unit{};
    Shift shift;
    Threshold threshold;
    std::size_t rounds{}, least{};  // rounds so far, and the fewest that can show a change
    RoundsSay say{};
};

// The load of the machine explains the change of a time.
struct BusierMachine {
    bool is_under_base{};
    model::Unit unit{};
    MachineContrast contrast;
    double base_median{};
    Threshold threshold;
};

// Kinds of work whose time shows the speed of a machine.
enum class TimedWork : std::uint8_t { computation, copy, first_touch, release, own_faults };

// Fixed work changed as much as the metric.
struct SlowerMachine {
    bool is_under_candidate{};
    TimedWork work{};
    double by{};                // 0.12: the work was 12 % slower
    double slower{}, faster{};  // how long the work took on either side
    double share{1};            // the share of the case's time that is such work; 1 if it is not known
    double left{};              // what is left of the change after correction, as a share of the base's median
    model::Unit unit{};
    Threshold threshold;
};

// The metric is a time that depends on how threads take turns. The turns change if a case waits for processors.
struct OtherTurns {
    bool is_under_candidate{};
    // Share of its time that the case waited: on the side that waited more, and on the other side.
    double more{}, less{};
};

struct ColdCaches {
    bool is_under_candidate{};
    double waited{};  // additional seconds of waiting for a processor
};

struct DisturbedRuns {
    std::size_t base_disturbed{}, base_all{}, candidate_disturbed{}, candidate_all{};
};

// The fastest tenth of the slower side's repetitions is within the threshold of the other side's median.
struct FastestRuns {
    bool is_candidate_slower{};
    model::Unit unit{};
    double fastest{}, usual{};
    Threshold threshold;
    // Fixed work that was slower on this side too: before the comparison, `fastest` was corrected by `slower_by`.
    std::optional<TimedWork> slower_work{};
    double slower_by{};  // 0.12: the fixed work was 12 % slower
};

struct Reason {
    std::variant<std::monostate, Rule, OneSided, CaseStates, NoValue, CounterChange, ShownShift, TooFewValues,
                 TooFewHosts, ShiftInRounds, BusierMachine, SlowerMachine, OtherTurns, ColdCaches, DisturbedRuns,
                 FastestRuns>
        about{};
    // names_apart() of names.hpp; set if an exact counter changed, but within its threshold.
    std::uint64_t names_apart{};
    // The metric is a wall time that scattered too much to decide; the processor time did not change.
    bool waited_unevenly{};

    [[nodiscard]] bool is_given() const { return about.index() != 0; }
};

}  // namespace memsweep::measure
