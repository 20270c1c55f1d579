// Results seen as tests that passed or not, as JUnit XML.
#pragma once

#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/document.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

enum class TestOutcome { passed, failure, error, skipped };

struct TestCase {
    std::string class_name;  // scenario and case: "churn.mode=refcount"
    std::string name;        // the assertion, or "runs"
    double seconds{};
    TestOutcome outcome{TestOutcome::passed};
    std::string type;     // of a failure or an error: "assertion", "crash", "timeout"
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

// In order of the cases, then of the assertions. A run without any case has the suite of its scenario, empty.
[[nodiscard]] TestReport test_report(const model::RunReport& report);
// A test per judged metric; it fails on what gates.
[[nodiscard]] TestReport test_report(const ComparisonReport& report);

void write_junit(const TestReport& tests, TextSink& sink);

// Of anything that is seen as tests.
template <typename Report>
void write_junit(const Report& report, TextSink& sink)
{
    write_junit(test_report(report), sink);
}

}  // namespace memsweep::reporters
