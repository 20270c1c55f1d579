// What a reader of a result should know first, as plain sentences: what went wrong, then what each release mode costs
// against refcount or what a probe found, then what was left out.
//
// Units    written out in every sentence; factors are medians of ratios with their 95 % interval.
// Errors   none: where a metric is absent, its part of a sentence is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

enum class Importance : std::uint8_t { failure, warning, note };

struct Finding {
    Importance importance{};
    std::string text;  // without a full stop
};

// Of a warning that is a finding too: a canary, measured first, says that other work disturbs the machine.
inline constexpr std::string_view busy_machine_code = "busy-machine";

[[nodiscard]] std::vector<Finding> findings(const model::RunReport& report);

// Why the figures of this result are not to be trusted, by its own words: other work disturbed the machine before
// anything was measured, or a probe found what no memory does. Each of them is among the findings.
[[nodiscard]] std::vector<std::string> doubts_about_machine(const model::RunReport& report);

// Of these, what the exit code of a run to its end stands for: what failed, and where nothing at all was measured, what
// was skipped. And what was refused for its memory, which whoever asked for it did not expect.
[[nodiscard]] std::vector<Finding> failures(const model::RunReport& report);

// What of a program's time goes into starting any: as it was measured beside the cases, and never more than the
// shortest repetition, which contains a start. Empty: not measured.
[[nodiscard]] std::optional<double> start_price(const model::RunReport& report);

// What a probe found about a machine's memory: its bandwidth, what non-temporal stores gain, the latency of a load by
// the size of the working set, what several loads at once gain, and the cost of a page fault. Empty without cases of a
// probe.
[[nodiscard]] std::vector<std::string> probe_sentences(std::span<const model::CaseReport> cases);

// What a probe measured that no memory does, so that something beside it was measured too: loads that are faster in a
// larger working set, n chains that bring more than n times what one brings. Either the best samples show it, by more
// than a quarter, or the medians, by more than a tenth and by the 95 % interval where there is one.
[[nodiscard]] std::vector<std::string> implausible_probe_sentences(std::span<const model::CaseReport> cases);

// The same case by case, to be said beside each: "slower than at 64MiB", "23 times one chain".
struct ImplausibleCase {
    const model::CaseReport* report{};
    std::string why;
};
[[nodiscard]] std::vector<ImplausibleCase> implausible_probe_cases(std::span<const model::CaseReport* const> cases);

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
