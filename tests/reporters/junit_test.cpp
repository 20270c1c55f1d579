#include <algorithm>
#include <sstream>

#include "reporters/ci/ci_formats.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

std::size_t count_of(const std::string& text, const std::string& part)
{
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

std::string junit(const model::RunReport& report)
{
    return whole_text([&](TextSink& sink) { write_junit(report, sink); });
}

// Each is a line.
std::vector<std::string> tests_of(const model::RunReport& report)
{
    std::istringstream text{junit(report)};
    std::vector<std::string> tests;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("  <testcase ")) {
            tests.push_back(line);
        }
    }
    return tests;
}

bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("junit has a test case per assertion, and one for each case that no assertion speaks for", "[unit]")
{
    const std::vector<std::string> tests = tests_of(sample_report());
    REQUIRE(tests.size() == 5 + 2);
    CHECK(has(tests[0], "<skipped "));
    CHECK(has(tests[1], "<error type=\"timeout\""));
    CHECK(has(tests[2], "\"></testcase>"));
    CHECK(has(tests[3], "classname=\"finalizer_repro.count=100/mode=finalizer\""));
    CHECK(has(tests[3], "<failure type=\"assertion\" message=\"after_drop.live_bytes.max == 0B: actual 762.9 MiB\">"));
    CHECK(has(tests[4], "\"><system-out>warned: "));  // it passed
    CHECK(has(tests[5], "\"fault_cost.median &lt; 1us: nothing to judge: the canary mapping was refused\""));
    CHECK(has(tests[6], "<skipped message=\"no case of this run has mode=leak\"/>"));
}

TEST_CASE("a failed assertion shows the interval of its metric", "[unit]")
{
    model::RunReport report = sample_report();
    report.assertions = {{report.cases[0].id,
                          "wall_time.median < 1ms",
                          0.1184,
                          model::Unit::seconds,
                          model::AssertionOutcome::failed,
                          model::Severity::fail,
                          {}}};
    CHECK(has(tests_of(report).back(), "95 % interval of the median: 0.1171362 s to"));
}

TEST_CASE("a case that failed is told once", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases[1].status = model::Status::failed;
    CHECK(tests_of(report).size() == 7);  // its assertions say why
    report.assertions.clear();
    const auto tests = tests_of(report);
    REQUIRE(tests.size() == report.cases.size());  // those that ran well pass
    CHECK(std::ranges::count_if(tests, [](const auto& test) { return has(test, "<failure type=\"case\""); }) == 1);
}

TEST_CASE("a run without cases has one empty suite", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases.clear();
    report.assertions.clear();
    CHECK(junit(report).find("<testsuite name=\"finalizer_repro\" tests=\"0\"") != std::string::npos);
}

TEST_CASE("hostile names make no element of their own in junit", "[unit]")
{
    const std::string plain = junit(sample_report());
    model::RunReport report = hostile_report();
    report.assertions[0].expression += "\uFFFE\uFFFF";
    const model::RunReport sample = sample_report();
    for (std::size_t i = 0; i < report.assertions.size(); ++i) {
        const auto of = std::ranges::find(sample.cases, sample.assertions[i].case_id, &model::CaseReport::id);
        if (of != sample.cases.end()) {
            report.assertions[i].case_id = report.cases[static_cast<std::size_t>(of - sample.cases.begin())].id;
        }
    }
    const std::string hostile = junit(report);
    for (const char* element : {"<testcase ", "<failure ", "<error ", "<skipped ", "<testsuite "}) {
        CHECK(count_of(hostile, element) == count_of(plain, element));
    }
    CHECK(hostile.find("<script") == std::string::npos);
    CHECK(hostile.find('\x1b') == std::string::npos);
    CHECK(hostile.find('\0') == std::string::npos);
    CHECK(hostile.find("\uFFFE") == std::string::npos);
    CHECK(hostile.find("\uFFFF") == std::string::npos);
}

}  // namespace memsweep::reporters
