// Compares two results, or the cases of two axis values within one result. A comparison has the pairs of cases, a
// verdict for every metric, and the findings to report first.
//
// Units    medians and differences in the metric's own unit; ratios are candidate / base.
// Sources  noisy metrics: the Hodges-Lehmann shift with its interval, Mann-Whitney U, and Benjamini-Hochberg over all
//          noisy metrics of one call. Exact counters: their medians. No random numbers are used.
// Ownership  pairs point into the results compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/cases.hpp"
#include "core/measure/findings.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {

using MetricNames = std::set<std::string, std::less<>>;

// What is judged, and by how much it may change.
struct Criteria {
    Thresholds thresholds;
    MetricNames only;                             // only these are judged; empty: every metric
    MetricNames informational;                    // shown and never judged, like metrics that only explain others
    bool points{};                                // named points are compared too, as POINT.METRIC
    bool strict_counters{};                       // every change of an exact counter counts: no threshold
    std::set<model::Unit> informational_units{};  // metrics with one of these units are shown and never judged
};

// Whether the criteria name this metric. A named metric is judged even if its role is only to explain others.
[[nodiscard]] bool is_named(const Criteria& criteria, const std::string& metric);

struct MetricComparison {
    std::size_t pair{};  // index in the pairs compared
    std::string scenario;
    std::string case_id;  // of the candidate, or of the base if there is no candidate
    std::string metric;   // empty: the verdict is on the whole case
    model::Unit unit{};
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
    std::uint64_t base_n{}, candidate_n{};  // number of values on each side
    std::optional<double> base_median, candidate_median;
    std::optional<Shift> shift;  // for an exact counter: from median to median, without an interval
    std::optional<double> p, q;  // noisy metrics only: q is p adjusted for the number of metrics
    Verdict verdict{};
    Reason reason;
    std::optional<Attribution> extra;  // where the extra time went, if one side took longer
    bool is_base_slower{};             // the base took longer, so `extra` is about the base
    bool busier_machine{};             // inconclusive, because the load of the machine may have made the difference
    bool hidden{};                     // in rounds: the values scatter so much that further rounds are of no use
};

// Returns the default threshold of a metric, as default_threshold() does.
using DefaultThreshold = Threshold (*)(std::string_view metric, model::Unit unit, model::MetricClass metric_class);

// How much this metric may change: the threshold in the criteria, else the default. The default for an exact counter is
// wider if the programs of the two sides have names or paths of different lengths (names.hpp).
[[nodiscard]] Threshold threshold_of(const Criteria& criteria, const CasePair& pair, const MetricComparison& metric,
                                     DefaultThreshold usual);

// Whether the two sides come from one run, in which their repetitions alternated, or from separate runs.
enum class Runs { one, separate };

// Compares the metrics in the order of the pairs. In each pair the base's metrics come first, in the order of the base,
// then those that only the candidate has. A metric is left out if neither side has a value of it. The p values of the
// noisy metrics are adjusted together, without the informational metrics. A metric that cannot be compared gets a
// verdict with its reason. With Runs::separate, repetitions that other work disturbed do not count (separate_runs.hpp).
//
// Cost     two exact distributions per noisy metric: 0.04 ms if each side has 20 repetitions (a 2-core VM).
[[nodiscard]] std::vector<MetricComparison> compare_cases(std::span<const CasePair> pairs, const Criteria& criteria,
                                                          Runs runs = Runs::one);

struct Side {
    std::string name;  // the file as named on the command line, or AXIS=VALUE
    std::string run_id, started, host;
};

struct ComparedCase {
    std::string label;  // the case id; between two axis values: the parameters that both cases share, may be empty
    std::string scenario;
    std::string base_id, candidate_id;  // empty if that side lacks the case
};

struct Comparison {
    Side base, candidate;
    bool is_between{};    // the sides are two values of an axis within one result
    bool is_in_rounds{};  // judged by compare_rounds()
    // The processors on which both sides ran at the same time; empty: they did not run at the same time.
    std::vector<std::uint32_t> duet_processors;
    std::vector<std::string> overruled;  // differences that --force ignored
    std::string machines;                // compared_machines() of likeness.hpp; may be empty
    std::vector<ComparedCase> cases;
    std::vector<CasePair> pairs;                 // the reports of `cases`, in the same order
    std::vector<MetricComparison> metrics;       // MetricComparison::pair is an index in `cases`
    std::vector<Finding> findings;               // the cases that changed, the worst first
    std::size_t noisy_metrics{};                 // how many noisy metrics were tested together
    std::vector<model::SiteComparison> sites{};  // one for each pair whose call sites were compared
};

// Errors   invalid_input: no case has a counterpart; the message lists the cases.
[[nodiscard]] base::Expected<Comparison> compare_reports(const model::RunReport& base,
                                                         const model::RunReport& candidate, const Criteria& criteria);

[[nodiscard]] base::Expected<Comparison> compare_families(const model::RunReport& report, const model::RatioOf& base,
                                                          const model::RatioOf& candidate, const Criteria& criteria);

[[nodiscard]] std::size_t count(const Comparison& comparison, Verdict verdict);

// True for the verdicts that mean a change. --only-changed shows only these.
[[nodiscard]] bool is_change(Verdict verdict);

enum class ComparisonOutcome {
    passed,
    regressed,   // a metric regressed, or a case began to fail
    no_verdict,  // too few repetitions for a metric, or nothing was judged
};

[[nodiscard]] ComparisonOutcome outcome(const Comparison& comparison);

// Returns what changed: one finding per case, the worst change first. A finding also says whether page faults explain
// why the case is slower. Needs the cases, pairs and metrics of the comparison.
[[nodiscard]] std::vector<Finding> comparison_findings(const Comparison& comparison);

// Estimates how many repetitions of each side would be enough for a verdict on an inconclusive metric. It assumes that
// the scatter stays the same, so the interval narrows with the square root of the number of repetitions. `family` is
// the number of noisy metrics that are judged together. Returns 0 if 1,000 repetitions would not be enough, or if the
// metric is not inconclusive.
[[nodiscard]] std::size_t repetitions_to_settle(const MetricComparison& metric, std::size_t family);

}  // namespace memsweep::measure
