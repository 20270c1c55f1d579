#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/comparison.hpp"
#include "reporters/ci/junit.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;
using measure::Verdict;

bool is_unjudged(Verdict verdict)
{
    return verdict == Verdict::insufficient || verdict == Verdict::added || verdict == Verdict::missing ||
           verdict == Verdict::not_comparable;
}

// The case without its scenario, which stands before it.
std::string class_name(const Comparison& comparison, const measure::ComparedCase& one)
{
    const std::string& id = one.candidate_id.empty() ? one.base_id : one.candidate_id;
    const std::string prefix = one.scenario + "/";
    const std::string rest = id.starts_with(prefix) ? id.substr(prefix.size()) : id;
    const std::string name = rest == one.scenario ? one.scenario : fmt::format("{}.{}", one.scenario, rest);
    return comparison.is_between ? fmt::format("{} against {}", name, comparison.base.name) : name;
}

TestCase test_of(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric)
{
    TestCase test{.class_name = class_name(comparison, comparison.cases[metric.pair]),
                  .name = metric.metric.empty() ? "the case" : metric.metric};
    const std::string said = fmt::format("{}: {}", model::name_of(metric.verdict), metric.why);
    if (report.gate && measure::gates(metric.verdict)) {
        test.outcome = TestOutcome::failure;
        test.type = std::string{model::name_of(metric.verdict)};
        test.message = metric.why;
        test.detail = fmt::format("{}", fmt::join(measure::explanation(metric, comparison.noisy_metrics), "; "));
    } else if (is_unjudged(metric.verdict)) {
        test.outcome = TestOutcome::skipped;
        test.message = said;
    } else {
        test.output = said;
    }
    return test;
}

std::vector<Fact> properties_of(const Comparison& comparison)
{
    std::vector<Fact> facts{{"base", side_text(comparison.base)},
                            {"candidate", side_text(comparison.candidate)},
                            {"noisy_metrics", fmt::format("{}", comparison.noisy_metrics)}};
    for (const std::string& difference : comparison.overruled) {
        facts.push_back({"overruled", difference});
    }
    return facts;
}

}  // namespace

TestReport test_report(const ComparisonReport& report)
{
    TestReport tests{.name = "memsweep compare", .is_timed = false};
    for (const Comparison& comparison : report.comparisons) {
        std::map<std::string, TestSuite> suites;
        for (const MetricComparison* metric : shown(report, comparison)) {
            if (metric->verdict != Verdict::informational) {
                suites[comparison.cases[metric->pair].scenario].tests.push_back(test_of(report, comparison, *metric));
            }
        }
        for (auto& [scenario, suite] : suites) {
            suite.name = fmt::format("{}: {} against {}", scenario, comparison.candidate.name, comparison.base.name);
            suite.properties = properties_of(comparison);
            tests.suites.push_back(std::move(suite));
        }
    }
    return tests;
}

}  // namespace memsweep::reporters
