// A result seen as tests that passed or not.
#pragma once

#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::reporters {

enum class Outcome { passed, failure, error, skipped };

struct TestCase {
    std::string class_name;  // scenario and case: "churn.mode=refcount"
    std::string name;        // the assertion, or "runs"
    double seconds{};
    Outcome outcome{Outcome::passed};
    std::string type;     // of a failure or an error: "assertion", "crash", "timeout"
    std::string message;  // why it did not pass
    std::string detail;   // actual value and interval
    std::string output;   // what a passed one has to say all the same
};

struct TestSuite {
    std::string name;  // the scenario
    double seconds{};
    std::vector<TestCase> tests;
};

// In order of the cases, then of the assertions. A run without any case has the suite of its scenario, empty.
[[nodiscard]] std::vector<TestSuite> test_suites(const model::RunReport& report);

}  // namespace memsweep::reporters
