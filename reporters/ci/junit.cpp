#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/model/metric_id.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/case_keys.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"
#include "reporters/wording/comparison_words.hpp"
#include "reporters/wording/reason_words.hpp"
#include "reporters/wording/site_words.hpp"

namespace memsweep::reporters {
namespace {

enum class TestOutcome { passed, failure, error, skipped };

struct TestCase {
    std::string class_name;  // scenario and case: "churn.mode=refcount"
    std::string name;        // the assertion, or "runs"
    double seconds{};
    TestOutcome outcome{TestOutcome::passed};
    std::string type;     // kind of failure or error: "assertion", "limit", "crash", "timeout"
    std::string message;  // why it did not pass
    std::string detail;   // actual value and interval
    std::string output;   // what a passed one has to say all the same
};

struct TestSuite {
    std::string name;  // the scenario
    double seconds{};
    std::vector<TestCase> tests{};
    std::vector<Fact> properties{};
    std::vector<std::string> output{};  // lines about the whole suite
};

struct TestReport {
    std::string name;
    std::string timestamp{};  // may be empty
    std::vector<TestSuite> suites{};
    bool is_timed{true};  // false: nothing took time, and what a test says stands on lines of its own
};

std::ptrdiff_t tests_with(const TestSuite& suite, TestOutcome outcome)
{
    return std::ranges::count(suite.tests, outcome, &TestCase::outcome);
}

std::string outcome_text(const TestCase& test)
{
    switch (test.outcome) {
    case TestOutcome::passed:
        break;
    case TestOutcome::failure:
        return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", escaped_xml(test.type),
                           escaped_xml(test.message), escaped_xml(test.detail));
    case TestOutcome::error:
        return fmt::format("<error type=\"{}\" message=\"{}\"/>", escaped_xml(test.type), escaped_xml(test.message));
    case TestOutcome::skipped:
        return fmt::format("<skipped message=\"{}\"/>", escaped_xml(test.message));
    }
    return {};
}

std::string seconds_text(double seconds, bool is_timed)
{
    return is_timed ? fmt::format("{:.6f}", seconds) : "0";
}

void write_test(TextSink& sink, const TestCase& test, bool is_timed)
{
    const std::string_view before = is_timed ? "" : "\n   ";
    sink.print("  <testcase classname=\"{}\" name=\"{}\" time=\"{}\">", escaped_xml(test.class_name),
               escaped_xml(test.name), seconds_text(test.seconds, is_timed));
    if (const std::string outcome = outcome_text(test); !outcome.empty()) {
        sink.print("{}{}", before, outcome);
    }
    if (!test.output.empty()) {
        sink.print("{}<system-out>{}</system-out>", before, escaped_xml(test.output));
    }
    sink.print("{}</testcase>\n", is_timed ? "" : "\n  ");
}

void write_suite(TextSink& sink, const TestSuite& suite, bool is_timed)
{
    sink.add("  <properties>\n");
    for (const Fact& fact : suite.properties) {
        sink.print("   <property name=\"{}\" value=\"{}\"/>\n", escaped_xml(fact.name), escaped_xml(fact.text));
    }
    sink.add("  </properties>\n");
    for (const TestCase& test : suite.tests) {
        write_test(sink, test, is_timed);
    }
    if (!suite.output.empty()) {
        sink.add("  <system-out>");
        for (const std::string& line : suite.output) {
            sink.print("{}\n", escaped_xml(line));
        }
        sink.add("  </system-out>\n");
    }
}

struct Totals {
    std::size_t tests{};
    std::ptrdiff_t failures{}, errors{}, skipped{};
    double seconds{};
};

Totals totals(std::span<const TestSuite> suites)
{
    Totals all;
    for (const TestSuite& suite : suites) {
        all.tests += suite.tests.size();
        all.failures += tests_with(suite, TestOutcome::failure);
        all.errors += tests_with(suite, TestOutcome::error);
        all.skipped += tests_with(suite, TestOutcome::skipped);
        all.seconds += suite.seconds;
    }
    return all;
}

std::string totals_text(const Totals& of, bool is_timed)
{
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{}\"", of.tests, of.failures,
                       of.errors, of.skipped, seconds_text(of.seconds, is_timed));
}

void write(const TestReport& tests, TextSink& sink)
{
    const std::string when = tests.timestamp.empty() ? "" : fmt::format(" timestamp=\"{}\"", tests.timestamp);
    sink.print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}{}>\n", tests.name,
               totals_text(totals(tests.suites), tests.is_timed), when);
    for (const TestSuite& suite : tests.suites) {
        sink.print(" <testsuite name=\"{}\" {}{}>\n", escaped_xml(suite.name),
                   totals_text(totals({&suite, 1}), tests.is_timed), when);
        write_suite(sink, suite, tests.is_timed);
        sink.add(" </testsuite>\n");
    }
    sink.add("</testsuites>\n");
}

using CasesById = std::map<std::string_view, const model::CaseReport*>;

double wall_seconds(const model::CaseReport& report)
{
    const model::Metric* metric = model::find_metric(report, model::metrics::wall_time);
    double seconds = 0;
    if (metric != nullptr) {
        for (const std::optional<double>& value : metric->values) {
            seconds += value && std::isfinite(*value) ? *value : 0;
        }
    }
    return seconds;
}

// "churn.mode=refcount" of a case "churn/mode=refcount".
std::string class_name(const model::CaseReport& report)
{
    const std::string axes = short_id(report.id, report.scenario);
    return axes == report.id ? axes : fmt::format("{}.{}", report.scenario, axes);
}

// The interval of the metric that the assertion begins with, if that is a metric of the whole repetition.
std::string median_interval_text(const model::AssertionResult& result, const model::CaseReport* report)
{
    const std::string name = result.expression.substr(0, result.expression.find('.'));
    const model::Metric* metric = report == nullptr ? nullptr : model::find_metric(*report, name);
    if (metric == nullptr || !metric->summary || !metric->summary->ci95) {
        return {};
    }
    return "; 95 % interval of the median: " + exact_interval_text(metric->summary->ci95, metric->unit);
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
    return fmt::format("expected: {}; actual: {}{}", result.expression, actual, median_interval_text(result, report));
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
    test.type = result.is_limit ? "limit" : "assertion";
    test.message = fmt::format("{}: {}", result.expression, actual_text(result));
    test.detail = detail_text(result, report);
    return test;
}

// The test that stands for a case for which no assertion speaks.
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
    std::set<std::string_view> spoken_of;
    for (const model::AssertionResult& result : report.assertions) {
        spoken_of.insert(result.case_id);
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
            const bool is_bare = one->status == model::Status::ok && !spoken_of.contains(one->id);
            if (is_bare || (one->status != model::Status::ok && !is_told)) {
                suite.tests.push_back(case_test(*one));
            }
        }
    }
    return suites;
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
        item_named(suites, scenario, &TestSuite::name).tests.push_back(assertion_test(result, of_case, scenario));
    }
    if (suites.empty()) {
        suites.push_back({.name = report.run.scenario_name});
    }
    return suites;
}

using measure::Comparison;
using measure::MetricComparison;
using measure::Verdict;

bool is_unjudged(Verdict verdict)
{
    return verdict == Verdict::insufficient || verdict == Verdict::inconclusive || verdict == Verdict::added ||
           verdict == Verdict::missing || verdict == Verdict::not_comparable;
}

std::string class_name(const Comparison& comparison, const measure::ComparedCase& one)
{
    const std::string rest = short_id(one.candidate_id.empty() ? one.base_id : one.candidate_id, one.scenario);
    const std::string name = rest == one.scenario ? one.scenario : fmt::format("{}.{}", one.scenario, rest);
    return comparison.is_between ? fmt::format("{} against {}", name, comparison.base.name) : name;
}

bool is_of_sites(const measure::Finding& finding)
{
    return finding.kind == measure::FindingKind::site_changes || finding.kind == measure::FindingKind::sites_equal ||
           finding.kind == measure::FindingKind::sites_unnamed;
}

// "; all of it from parse_row (table.cpp:210)"; empty: nobody knows.
std::string sites_part(const Comparison& comparison, const MetricComparison& metric)
{
    const auto found = std::ranges::find_if(comparison.findings, [&](const measure::Finding& finding) {
        return finding.kind == measure::FindingKind::site_changes &&
               finding.case_id == comparison.cases[metric.pair].candidate_id &&
               finding.metrics.front().metric == metric.metric;
    });
    return found == comparison.findings.end() ? ""
                                              : "; " + shares_text(std::get<measure::ChangedSites>(found->about).of);
}

TestCase test_of(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric)
{
    TestCase test{.class_name = class_name(comparison, comparison.cases[metric.pair]),
                  .name = metric.metric.empty() ? "the case" : metric.metric};
    const std::string said = fmt::format("{}: {}", model::name_of(metric.verdict), reason_text(metric.reason));
    if (report.gate && measure::gates(metric.verdict)) {
        test.outcome = TestOutcome::failure;
        test.type = std::string{model::name_of(metric.verdict)};
        test.message = reason_text(metric.reason) + sites_part(comparison, metric);
        test.detail = listed(explanation(metric, comparison.noisy_metrics), "; ");
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
    if (!comparison.machines.empty()) {
        facts.push_back({"machines", comparison.machines});
    }
    for (const std::string& difference : comparison.overruled) {
        facts.push_back({"overruled", difference});
    }
    return facts;
}

TestReport tests_of(const model::RunReport& report)
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
    for (const measure::Finding& finding : measure::findings(report)) {
        if (is_of_sites(finding)) {
            tests.suites.front().output.push_back(sentence(finding));
        }
    }
    return tests;
}

TestReport tests_of(const ComparisonReport& report)
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
            for (const measure::Finding& finding : comparison.findings) {
                if (is_of_sites(finding)) {
                    suite.output.push_back(sentence(finding));
                }
            }
            tests.suites.push_back(std::move(suite));
        }
    }
    return tests;
}

}  // namespace

void write_junit(const model::RunReport& report, TextSink& sink)
{
    auto compared = comparison_report(report);
    if (compared && has_failed(report)) {
        write_junit(ComparedRun{report, *std::move(compared)}, sink);
    } else {
        write(compared ? tests_of(*compared) : tests_of(report), sink);
    }
}

void write_junit(const ComparisonReport& report, TextSink& sink)
{
    write(tests_of(report), sink);
}

void write_junit(const ComparedRun& report, TextSink& sink)
{
    TestReport tests = tests_of(report.run);
    std::ranges::move(tests_of(report.against).suites, std::back_inserter(tests.suites));
    write(tests, sink);
}

void write_junit(const LeaksReport& report, TextSink& sink)
{
    TestReport tests{.name = "memsweep run --leaks", .is_timed = false};
    TestSuite suite{.name = report.command};
    TestCase whole{.class_name = "leaks", .name = "holds no more after more operations"};
    const LeakVerdict verdict = verdict_of(report);
    const std::string said = headline_of(report);
    whole.outcome = verdict == LeakVerdict::leak     ? TestOutcome::failure
                    : verdict == LeakVerdict::unsure ? TestOutcome::skipped
                                                     : TestOutcome::passed;
    whole.type = "leak";
    (verdict == LeakVerdict::none ? whole.output : whole.message) = said;
    suite.tests.push_back(std::move(whole));
    for (const LeakSite& site : report.sites) {
        if (site.growth.growth == measure::Growth::steady) {
            suite.tests.push_back(
                {.class_name = "leaks",
                 .name = site.place,
                 .outcome = TestOutcome::failure,
                 .type = "leak",
                 .message = fmt::format("{} B and {} blocks for each operation", site.growth.bytes, site.growth.blocks),
                 .detail = listed(site.stack, "\n")});
        }
    }
    tests.suites.push_back(std::move(suite));
    write(tests, sink);
}

}  // namespace memsweep::reporters
