#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "reporters/ci/junit.hpp"
#include "reporters/document/report_tables.hpp"
#include "reporters/document/value_text.hpp"
#include "reporters/text/utc_time.hpp"

namespace memsweep::reporters {
namespace {

using CasesById = std::map<std::string_view, const model::CaseReport*>;

double wall_seconds(const model::CaseReport& report)
{
    const model::Metric* metric = model::find_metric(report, "wall_time");
    double seconds = 0;
    if (metric != nullptr) {
        for (const std::optional<double>& value : metric->values) {
            seconds += value && std::isfinite(*value) ? *value : 0;
        }
    }
    return seconds;
}

std::string class_name(const model::CaseReport& report)
{
    const std::string prefix = report.scenario + "/";
    const bool has_axes = report.id.starts_with(prefix);
    return has_axes ? fmt::format("{}.{}", report.scenario, report.id.substr(prefix.size())) : report.id;
}

// Of the metric that an assertion begins with, when it is one of the whole repetition.
std::string interval_text(const model::AssertionResult& result, const model::CaseReport* report)
{
    const std::string name = result.expression.substr(0, result.expression.find('.'));
    const model::Metric* metric = report == nullptr ? nullptr : model::find_metric(*report, name);
    if (metric == nullptr || !metric->summary || !metric->summary->ci95) {
        return {};
    }
    const auto& [low, high] = *metric->summary->ci95;
    return fmt::format("; 95 % interval of the median: {} to {}", exact_text(low, metric->unit),
                       exact_text(high, metric->unit));
}

std::string actual_text(const model::AssertionResult& result)
{
    if (result.actual) {
        return "actual " + value_text(*result.actual, result.unit);
    }
    return result.reason.empty() ? "nothing to judge" : "nothing to judge: " + result.reason;
}

std::string detail_text(const model::AssertionResult& result, const model::CaseReport* report)
{
    const std::string actual = result.actual ? exact_text(*result.actual, result.unit) : "none";
    return fmt::format("expected: {}; actual: {}{}", result.expression, actual, interval_text(result, report));
}

TestCase assertion_test(const model::AssertionResult& result, const model::CaseReport* report,
                        const std::string& scenario)
{
    TestCase test{.class_name = report == nullptr ? scenario : class_name(*report), .name = result.expression};
    test.seconds = report == nullptr ? 0 : wall_seconds(*report);
    if (result.outcome == model::AssertionOutcome::passed) {
        return test;
    }
    if (result.outcome == model::AssertionOutcome::not_evaluated) {
        test.outcome = TestOutcome::skipped;
        test.message = result.reason;
        return test;
    }
    if (result.severity == model::Severity::warn) {
        test.output = fmt::format("warned: {}", detail_text(result, report));
        return test;
    }
    test.outcome = TestOutcome::failure;
    test.type = "assertion";
    test.message = fmt::format("{}: {}", result.expression, actual_text(result));
    test.detail = detail_text(result, report);
    return test;
}

// Of a case for which no assertion speaks.
TestCase case_test(const model::CaseReport& report)
{
    TestCase test{.class_name = class_name(report), .name = "runs"};
    test.seconds = wall_seconds(report);
    test.message = report.reason.empty() ? "no reason was recorded" : report.reason;
    switch (report.status) {
    case model::Status::skipped:
        test.outcome = TestOutcome::skipped;
        break;
    case model::Status::failed:
        test.outcome = TestOutcome::failure;
        test.type = "case";
        break;
    case model::Status::error:
    case model::Status::timeout:
        test.outcome = TestOutcome::error;
        test.type = report.status == model::Status::timeout ? "timeout" : "crash";
        break;
    case model::Status::ok:
        break;
    }
    return test;
}

std::vector<TestSuite> suites_of_cases(const model::RunReport& report)
{
    std::set<std::string_view> asserted;
    for (const model::AssertionResult& result : report.assertions) {
        if (result.outcome == model::AssertionOutcome::failed) {
            asserted.insert(result.case_id);
        }
    }
    std::vector<TestSuite> suites;
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        TestSuite& suite = suites.emplace_back(TestSuite{.name = group.scenario});
        for (const model::CaseReport* one : group.cases) {
            suite.seconds += wall_seconds(*one);
            const bool is_told = one->status == model::Status::failed && asserted.contains(one->id);
            if (one->status != model::Status::ok && !is_told) {
                suite.tests.push_back(case_test(*one));
            }
        }
    }
    return suites;
}

TestSuite& suite_named(std::vector<TestSuite>& suites, const std::string& name)
{
    const auto found = std::ranges::find(suites, name, &TestSuite::name);
    return found == suites.end() ? suites.emplace_back(TestSuite{.name = name}) : *found;
}

std::vector<TestSuite> test_suites(const model::RunReport& report)
{
    CasesById cases;
    for (const model::CaseReport& one : report.cases) {
        cases.emplace(one.id, &one);
    }
    std::vector<TestSuite> suites = suites_of_cases(report);
    for (const model::AssertionResult& result : report.assertions) {
        const auto found = cases.find(result.case_id);
        const model::CaseReport* of_case = found == cases.end() ? nullptr : found->second;
        const std::string& scenario = of_case == nullptr ? report.run.scenario_name : of_case->scenario;
        suite_named(suites, scenario).tests.push_back(assertion_test(result, of_case, scenario));
    }
    if (suites.empty()) {
        suites.push_back({.name = report.run.scenario_name});
    }
    return suites;
}

}  // namespace

TestReport test_report(const model::RunReport& report)
{
    TestReport tests{
        .name = "memsweep", .timestamp = seconds_part(report.run.started).value_or(""), .suites = test_suites(report)};
    std::vector<Fact> properties = run_facts(report);
    std::ranges::move(machine_facts(report.machine), std::back_inserter(properties));
    for (TestSuite& suite : tests.suites) {
        suite.properties = properties;
    }
    for (const model::Warning& warning : report.warnings) {  // they are about the whole run
        tests.suites.front().output.push_back(
            fmt::format("warning {}: {} {}", warning.code, warning.message, warning.hint));
    }
    return tests;
}

}  // namespace memsweep::reporters
