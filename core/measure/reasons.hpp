// Why a verdict is what it is, as values: the rule that decided, and the numbers that it used. reporters/wording makes
// the sentence.
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

// Rules that need no number of the metric.
enum class Rule : std::uint8_t {
    units_differ,     // or directions
    of_the_machine,   // not of the case
    part_of_time,     // which is judged as a whole
    explains_others,  // --metric or --threshold judges it
    fleet_explains,   // --threshold judges it
    unit_is_shown,    // metrics in this unit are asked to be shown only
    is_shown,         // asked to be shown only
    no_round,         // there is none in which both sides were measured
};

// A case or a metric that one side lacks.
struct OneSided {
    bool is_in_candidate{};
};

// Two cases, of which at least one did not end well.
struct CaseStates {
    model::Status base{}, candidate{};
    std::string base_reason, candidate_reason;
};

struct NoValue {
    bool is_of_base{};
    std::string reason;
};

// An exact counter: its medians decide.
struct CounterChange {
    model::Unit unit{};
    double base{}, candidate{};
    bool is_allowed{};
    std::size_t rounds{}, wanted{};  // rounds so far, and how many show that it repeats; 0: they are enough
};

enum class Shown : std::uint8_t {
    beyond,           // more than is allowed, not by chance, and the interval says so too
    within,           // so is the interval
    interval_beyond,  // within, and the interval reaches beyond
    by_chance,        // beyond, and chance could do it
    interval_of_none  // beyond, and the interval reaches no change
};

// A metric that varies: its shift between two samples.
struct ShownShift {
    model::Unit unit{};
    Shift shift;  // with an interval
    Threshold threshold;
    double q{};
    Shown shown{};
};

struct TooFewValues {
    std::size_t base{}, candidate{};
    std::size_t family{}, needed{};  // metrics tested together; values of each side to show a change among so many
};

struct TooFewHosts {
    std::size_t hosts{}, needed{};
};

enum class RoundsSay : std::uint8_t { changed, same, too_few, open };

// A metric that varies, measured in rounds.
struct ShiftInRounds {
    model::Unit unit{};
    Shift shift;
    Threshold threshold;
    std::size_t rounds{}, least{};  // so far; and the fewest that can show a change
    RoundsSay say{};
};

// The load of the machine explains a time.
struct BusierMachine {
    bool is_under_base{};
    model::Unit unit{};
    MachineContrast contrast;
    double base_median{};
    Threshold threshold;
};

// Work by which the speed of a machine is known.
enum class TimedWork : std::uint8_t { computation, copy, first_touch, release, own_faults };

// Fixed work changed as much as the metric.
struct SlowerMachine {
    bool is_under_candidate{};
    TimedWork work{};
    double by{};                // 0.12: 12 % slower
    double slower{}, faster{};  // what the work took
    double share{1};            // the part of the case's time that is such work
    double left{};              // of the change, as a share of the base's median
    model::Unit unit{};
    Threshold threshold;
};

// A time that follows how threads take turns. They take turns differently if a case waits for processors.
struct OtherTurns {
    bool is_under_candidate{};
    double more{}, less{};  // share of its time that the case waited, on the busier and on the quieter machine
};

struct ColdCaches {
    bool is_under_candidate{};
    double waited{};  // seconds longer
};

struct DisturbedRuns {
    std::size_t base_disturbed{}, base_all{}, candidate_disturbed{}, candidate_all{};
};

// The slower side's fastest repetition is no slower than the other side's median.
struct FastestRuns {
    bool is_candidate_slower{};
    model::Unit unit{};
    double fastest{}, usual{};
    Threshold threshold;
    std::optional<TimedWork> slower_work{};  // by which the machine was slower; then by how much
    double slower_by{};
};

struct Reason {
    std::variant<std::monostate, Rule, OneSided, CaseStates, NoValue, CounterChange, ShownShift, TooFewValues,
                 TooFewHosts, ShiftInRounds, BusierMachine, SlowerMachine, OtherTurns, ColdCaches, DisturbedRuns,
                 FastestRuns>
        about{};
    std::uint64_t names_apart{};  // by how many characters the names differ, if that forgives a change
    bool waited_unevenly{};       // too unevenly to tell, and both sides took the same processor time

    [[nodiscard]] bool is_given() const { return about.index() != 0; }
};

}  // namespace memsweep::measure
