// The facts that a reader of a result should know first, as values. Failures and doubts come first. Then come the costs
// of each release mode compared with refcount, or the results of a probe. Cases that were left out come last.
// reporters/wording turns findings into sentences.
//
// Units    those of each metric.
// Errors   none: a finding leaves out what was not measured.
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
    bool is_between{};  // between two values of an axis
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;
};

// Two measurements of a probe that cannot both be true of any memory. So at least one of them measured something else
// than memory.
struct Contradiction {
    FindingKind kind{};
    ProbedCase base;   // the case with the smaller working set, with one chain, or with idle memory
    ProbedCase other;  // the case with the larger working set, with several chains, or with memory under load
    double excess{};   // what was measured divided by what is possible, so above 1
    bool by_best{};    // `excess` is computed from the best samples; else from the medians
};

// Names one run in a history (a series of results), such as the first run after a change.
struct RunPlace {
    std::size_t run{}, runs{};  // the run's number, from 0, and the number of runs
    std::string started, name;  // when the run started (UTC), and its file
};

// The call sites at which one metric differs between two programs. The list may be empty.
struct ChangedSites {
    model::MetricSites of;
    std::uint32_t runs{};  // recorded runs of each program
};

// The values from which a verdict on replays was derived.
struct ReplayFigures {
    ReplayVerdict of;
};

struct Finding {
    FindingKind kind{};
    Importance importance{};
    std::string case_id{};                // the first case that the finding is about; may be empty
    std::string base{};                   // the case, result or axis value that the case is compared with
    std::string subject{};                // an assertion, a kind of trim, or the name of a case in reports
    std::vector<MetricEffect> metrics{};  // the metrics that show the finding, the main one first
    std::size_t count{1};                 // the number of cases, metrics or runs for which the finding is true
    std::size_t total{};                  // of how many cases, metrics or runs; 0: not reported
    std::string words{};                  // the reason of a case, or the text of a warning
    Reason reason{};                      // of a verdict
    std::variant<std::monostate, CaseContrast, PlacementCost, Contradiction, ChangedCase, RunPlace, ReplayVerdict,
                 ReplayFigures, ChangedSites>
        about{};
};

// The code of a warning that is also a finding. It says that other work disturbed the machine before the cases, as
// shown by the varying times of a canary (a fixed computation or copy) or by steal time.
inline constexpr std::string_view busy_machine_code = "busy-machine";

[[nodiscard]] std::vector<Finding> findings(const model::RunReport& report);

// Returns the findings that say that a result must not be trusted. Either other work disturbed the machine before
// anything was measured, or a probe measured what no memory can do. findings() contains these too.
[[nodiscard]] std::vector<Finding> doubts_about_machine(const model::RunReport& report);

// Returns the findings that decide the exit code of a run that was not interrupted: failures, cases over the memory
// budget and, if nothing was measured, skipped cases.
[[nodiscard]] std::vector<Finding> failures(const model::RunReport& report);

// Returns the seconds that the start of any program takes, measured in addition to the cases. The result is never more
// than the shortest repetition, because each repetition contains a start. nullopt: not measured.
[[nodiscard]] std::optional<double> start_price(const model::RunReport& report);

// Returns the findings on the call sites of two programs. They cover the metrics that changed according to `verdicts`.
// If this yields no finding, they cover every metric that differs.
[[nodiscard]] std::vector<Finding> site_findings(const model::SiteComparison& sites,
                                                 std::span<const MetricEffect> verdicts = {});

// Returns the findings of a probe about a machine's memory: on its bandwidth, the gain of non-temporal stores, the
// latency of a load for each size of the working set, the gain of several loads at once, and the cost of a page fault.
// The list is empty if no case is one of a probe.
[[nodiscard]] std::vector<Finding> probe_findings(std::span<const model::CaseReport> cases);

// Returns the measurements of a probe that no memory can produce:
//   - loads that are faster in a larger working set, or while other processors stream;
//   - n chains of loads that are more than n times as fast as one chain.
// The measurements count only if the best samples are beyond what is possible by more than a quarter, or the medians by
// more than a tenth. If the medians have a 95 % interval, all of the interval must be beyond this tenth.
[[nodiscard]] std::vector<Contradiction> contradictions(std::span<const model::CaseReport* const> cases);

// Returns the less plausible of the two cases: the case with several chains, else the case that took longer.
[[nodiscard]] const model::CaseReport& doubted_case(const Contradiction& one);

// Returns one finding for the worst contradiction of each kind. Contradictions between latencies of different sizes get
// one finding for each kind of pages.
[[nodiscard]] std::vector<Finding> implausible_findings(std::span<const model::CaseReport> cases);

// Code: unverified-profile. The case's collections follow a runtime profile that no recording has confirmed.
[[nodiscard]] std::optional<model::Warning> profile_warning(const model::CaseReport& report);

// Codes:
//   uncounted             the program ran without the library that should have counted its allocations
//   counted-under-limit   the program's address space was limited, and the library used a part of it
//   unverified-allocator  it is not known whose malloc the program used
[[nodiscard]] std::vector<model::Warning> counting_warnings(const model::CaseReport& report);

// Warnings about a case's times: why the times are less trustworthy than they look, and what to do about this. Messages
// name the case. Codes: few-repetitions, coarse-clock, slow-first-repetition, outliers, drift, noisy.
//
// Only one metric is judged: wall_time, or time_per_op if there is no wall_time. The two differ by a constant factor,
// so judging both would repeat every warning.
//
// Sources  outliers and a slow first repetition: more than 5 x 1.4826 x MAD (median absolute deviation) away from the
//          median, with 5 or more values. Drift: |Spearman's rho| of order and value > 0.6, with 8 or more values.
//          Noise: MdAPE above 5 %. Values are never dropped.
// Errors   none: a case without times has no warnings.
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
