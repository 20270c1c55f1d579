// Two results, or two case families of one, compared: which cases met, what became of every metric, and what to say of
// it first.
//
// Ownership  `pairs` point into the results compared.
// Errors   invalid_input: no case has a counterpart, with what there is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/measure/compare.hpp"
#include "core/measure/findings.hpp"

namespace memsweep::measure {

struct Side {
    std::string name;  // the file as named on the command line, or AXIS=VALUE
    std::string run_id, started, host;
};

struct ComparedCase {
    std::string label;  // the case id; between two values: what both cases share, or empty
    std::string scenario;
    std::string base_id, candidate_id;  // empty on the side that lacks it
};

struct Comparison {
    Side base, candidate;
    bool is_between{};                   // two values of an axis within one result
    std::vector<std::string> overruled;  // differences that --force ignored
    std::vector<ComparedCase> cases;
    std::vector<CasePair> pairs;            // of `cases`
    std::vector<MetricComparison> metrics;  // `pair` counts in `cases`
    std::vector<Finding> findings;          // the cases that changed, the worst first
    std::size_t noisy_metrics{};            // that were tested together
};

[[nodiscard]] base::Expected<Comparison> compare_reports(const model::RunReport& base,
                                                         const model::RunReport& candidate, const Criteria& criteria);

[[nodiscard]] base::Expected<Comparison> compare_families(const model::RunReport& report, const model::RatioOf& base,
                                                          const model::RatioOf& candidate, const Criteria& criteria);

[[nodiscard]] std::size_t count(const Comparison& comparison, Verdict verdict);

// True for the verdicts that say something moved: what --only-changed keeps.
[[nodiscard]] bool is_change(Verdict verdict);

enum class Outcome {
    passed,
    regressed,   // a metric regressed, or a case began to fail
    no_verdict,  // too few repetitions for a metric, or nothing was judged
};

[[nodiscard]] Outcome outcome(const Comparison& comparison);

}  // namespace memsweep::measure
