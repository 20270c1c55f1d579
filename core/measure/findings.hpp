// What a reader of a result should know first, as values: what went wrong, then what each release mode costs against
// refcount or what a probe found, then what was left out. reporters/wording makes sentences of them.
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

// What changed in a case between two results, or how long two values of an axis take.
struct ChangedCase {
    bool is_between{};  // two values of an axis
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;
};

// What a probe measured that no memory does, so that something beside it was measured too.
struct Contradiction {
    FindingKind kind{};
    ProbedCase base;   // the smaller working set, the one chain, or the idle memory
    ProbedCase other;  // the larger set, several chains, or the memory under load
    double excess{};   // over what can be, by the best samples or by the medians
    bool by_best{};
};

// The run of a history in which something begins.
struct RunPlace {
    std::size_t run{}, runs{};  // from 0; how many there are
    std::string started, name;  // UTC; the file
};

// The call sites of one metric, or that none differs: then without them.
struct ChangedSites {
    model::MetricSites of;
    std::uint32_t runs{};  // of each program, recorded
};

// What a verdict on replays rests on.
struct ReplayFigures {
    ReplayVerdict of;
};

struct Finding {
    FindingKind kind{};
    Importance importance{};
    std::string case_id{};                // the first that it is true of; may be empty
    std::string base{};                   // a case, a result or a value of an axis: what that is told against
    std::string subject{};                // an assertion, a trim, a case as reports call it
    std::vector<MetricEffect> metrics{};  // what it rests on, the first of them first
    std::size_t count{1};                 // how many cases, metrics or runs it is true of
    std::size_t total{};                  // out of how many; 0: nobody asks
    std::string words{};                  // the reason of a case, a warning
    Reason reason{};                      // of a verdict
    std::variant<std::monostate, CaseContrast, PlacementCost, Contradiction, ChangedCase, RunPlace, ReplayVerdict,
                 ReplayFigures, ChangedSites>
        about{};
};

// The code of a warning that is a finding too: a canary, measured first, says that other work disturbs the machine.
inline constexpr std::string_view busy_machine_code = "busy-machine";

[[nodiscard]] std::vector<Finding> findings(const model::RunReport& report);

// Why the figures of this result are not to be trusted, by its own words: other work disturbed the machine before
// anything was measured, or a probe found what no memory does. Each of them is among the findings.
[[nodiscard]] std::vector<Finding> doubts_about_machine(const model::RunReport& report);

// The findings behind the exit code of a run to its end: failures; skipped cases, if nothing at all was measured; and
// cases refused for their memory, which whoever asked for them did not expect.
[[nodiscard]] std::vector<Finding> failures(const model::RunReport& report);

// What of a program's time goes into starting any: as it was measured beside the cases, and never more than the
// shortest repetition, which contains a start. Empty: not measured.
[[nodiscard]] std::optional<double> start_price(const model::RunReport& report);

// What is found of the call sites of two programs. `verdicts`: on the metrics of the two, those that changed are told;
// without them what differs is.
[[nodiscard]] std::vector<Finding> site_findings(const model::SiteComparison& sites,
                                                 std::span<const MetricEffect> verdicts = {});

// What a probe found about a machine's memory: its bandwidth, what non-temporal stores gain, the latency of a load by
// the size of the working set, what several loads at once gain, and the cost of a page fault. Empty without cases of a
// probe.
[[nodiscard]] std::vector<Finding> probe_findings(std::span<const model::CaseReport> cases);

// What a probe measured that no memory does: loads that are faster in a larger working set, n chains that bring more
// than n times what one brings, loads that are faster while others stream. Either the best samples show it, by more
// than a quarter, or the medians, by more than a tenth and by the 95 % interval where there is one.
[[nodiscard]] std::vector<Contradiction> contradictions(std::span<const model::CaseReport* const> cases);

// The case of the two that cannot be: the several chains, else what took longer.
[[nodiscard]] const model::CaseReport& doubted_case(const Contradiction& one);

// The worst contradiction of each kind. Latencies are told apart by their kind of pages.
[[nodiscard]] std::vector<Finding> implausible_findings(std::span<const model::CaseReport> cases);

// What makes a case's times less trustworthy than they look, and what to do about it.
//
// One metric is judged: wall_time, or time_per_op where there is no wall_time. One is the other over a constant, so
// judging both would repeat everything.
//
// Sources  outliers and a slow first repetition: further than 5 x 1.4826 x MAD from the median, from 5 values; drift:
//          |Spearman's rho| of order and value > 0.6, from 8 values; noise: MdAPE above 5 %. Values are never dropped.
// Errors   none: a case without times has no warnings.

// Code: unverified-profile. Of a case whose collections follow a profile that nothing has confirmed.
[[nodiscard]] std::optional<model::Warning> profile_warning(const model::CaseReport& report);

// Codes: uncounted, unverified-allocator. Of a case whose program ran without what was to count its allocations, or to
// tell whose malloc it used.
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
