// The facts that a reader of a result should know first, as values. First comes what went wrong. Then comes what each
// release mode costs compared with refcount, or what a probe found; last, what was left out. reporters/wording makes
// sentences of them.
//
// Units    those of each metric.
// Errors   none: what is absent is left out.
// Ownership  findings of a run point into its cases.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/measure/contrasts.hpp"
#include "core/measure/probed_cases.hpp"
#include "core/measure/replay_verdict.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/names.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

enum class Importance : std::uint8_t { failure, warning, note };

enum class FindingKind : std::uint8_t {
#define MEMSWEEP_FINDING(kind, name, meaning) kind,
#include "core/measure/finding_kinds.inc"
#undef MEMSWEEP_FINDING
};

// The changes of a case between two results, or between two values of an axis.
struct ChangedCase {
    bool is_between{};  // two values of an axis
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;
};

// A measurement of a probe that no memory can produce, so the probe measured something else as well.
struct Contradiction {
    FindingKind kind{};
    ProbedCase base;   // the smaller working set, the one chain, or the idle memory
    ProbedCase other;  // the larger set, several chains, or the memory under load
    double excess{};   // how far beyond what is possible, by the best samples or by the medians
    bool by_best{};
};

// The run of a history in which something begins.
struct RunPlace {
    std::size_t run{}, runs{};  // from 0; how many there are
    std::string started, name;  // UTC; the file
};

// The call sites in which one metric differs; without sites if none does.
struct ChangedSites {
    model::MetricSites of;
    std::uint32_t runs{};  // of each program, recorded
};

// The figures that a verdict on replays rests on.
struct ReplayFigures {
    ReplayVerdict of;
};

struct Finding {
    FindingKind kind{};
    Importance importance{};
    std::string case_id{};                // the first case it is true of; may be empty
    std::string base{};                   // the case, result or axis value that it is compared with
    std::string subject{};                // an assertion, a trim, a case as reports call it
    std::vector<MetricEffect> metrics{};  // what it rests on, the main one first
    std::size_t count{1};                 // how many cases, metrics or runs it is true of
    std::size_t total{};                  // out of how many; 0: of no interest
    std::string words{};                  // the reason of a case, a warning
    Reason reason{};                      // of a verdict
    std::variant<std::monostate, CaseContrast, PlacementCost, Contradiction, ChangedCase, RunPlace, ReplayVerdict,
                 ReplayFigures, ChangedSites>
        about{};
};

// The code of a warning that is also a finding: other work disturbs the machine. A canary, a fixed computation or copy
// before the cases, varied.
inline constexpr std::string_view busy_machine_code = "busy-machine";

[[nodiscard]] std::vector<Finding> findings(const model::RunReport& report);

// Reasons in the result itself not to trust its figures. Either other work disturbed the machine before anything was
// measured, or a probe measured what no memory can do. findings() contains each of them.
[[nodiscard]] std::vector<Finding> doubts_about_machine(const model::RunReport& report);

// The findings behind the exit code of a run that came to its end. They are failures, cases over the memory budget and,
// if nothing at all was measured, skipped cases.
[[nodiscard]] std::vector<Finding> failures(const model::RunReport& report);

// The time that starting any program takes, measured beside the cases. It is never more than the shortest repetition,
// because each repetition contains a start. Empty: not measured.
[[nodiscard]] std::optional<double> start_price(const model::RunReport& report);

// The findings on the call sites of two programs. They cover the metrics that changed by `verdicts`. If there are none,
// they cover the metrics that differ.
[[nodiscard]] std::vector<Finding> site_findings(const model::SiteComparison& sites,
                                                 std::span<const MetricEffect> verdicts = {});

// The findings of a probe about a machine's memory: its bandwidth and the gain of non-temporal stores; the latency of a
// load by the size of the working set; the gain of several loads at once; and the cost of a page fault. Empty without
// cases of a probe.
[[nodiscard]] std::vector<Finding> probe_findings(std::span<const model::CaseReport> cases);

// Measurements of a probe that no memory can produce. Loads are faster in a larger working set or while other
// processors stream, or n chains bring more than n times what one brings. The best samples must show it by more than a
// quarter. Else the medians and, if there is one, their whole 95 % interval must show it by more than a tenth.
[[nodiscard]] std::vector<Contradiction> contradictions(std::span<const model::CaseReport* const> cases);

// The less plausible of the two cases: the one with several chains, else the one that took longer.
[[nodiscard]] const model::CaseReport& doubted_case(const Contradiction& one);

// The worst contradiction of each kind. Latencies by size count separately for each kind of pages.
[[nodiscard]] std::vector<Finding> implausible_findings(std::span<const model::CaseReport> cases);

// Warnings that say what makes a case's times less trustworthy than they look, and what to do about it.
//
// Only one metric is judged: wall_time, or time_per_op if there is no wall_time. They differ by a constant factor, so
// judging both would repeat everything.
//
// Sources  outliers and a slow first repetition: further than 5 x 1.4826 x MAD from the median, from 5 values; drift:
//          |Spearman's rho| of order and value > 0.6, from 8 values; noise: MdAPE above 5 %. Values are never dropped.
// Errors   none: a case without times has no warnings.

// Code: unverified-profile. The case's collections follow a runtime profile that no recording has confirmed.
[[nodiscard]] std::optional<model::Warning> profile_warning(const model::CaseReport& report);

// Codes: uncounted, counted-under-limit, unverified-allocator. The case's program ran without the library that should
// have counted its allocations or reported whose malloc it used, or that library took part of few addresses.
[[nodiscard]] std::vector<model::Warning> counting_warnings(const model::CaseReport& report);

// Codes: few-repetitions, coarse-clock, slow-first-repetition, outliers, drift, noisy. Messages name the case.
[[nodiscard]] std::vector<model::Warning> noise_warnings(const model::CaseReport& report);

}  // namespace memsweep::measure

template <>
inline constexpr auto memsweep::model::name_table<memsweep::measure::Importance> =
    std::to_array<Named<measure::Importance>>({
        {measure::Importance::failure, "failure", "something went wrong, or became worse"},
        {measure::Importance::warning, "warning", "a reason to doubt what was measured"},
        {measure::Importance::note, "note", "worth knowing"},
    });

template <>
inline constexpr auto memsweep::model::name_table<memsweep::measure::FindingKind> =
    std::to_array<Named<measure::FindingKind>>({
#define MEMSWEEP_FINDING(kind, name, meaning) {measure::FindingKind::kind, name, meaning},
#include "core/measure/finding_kinds.inc"
#undef MEMSWEEP_FINDING
    });
