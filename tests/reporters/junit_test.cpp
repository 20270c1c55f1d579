#include "reporters/ci/junit.hpp"
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

}  // namespace

TEST_CASE("junit has a test case per assertion, and one for each case that no assertion speaks for", "[unit]")
{
    const std::vector<TestSuite> suites = test_report(sample_report()).suites;
    REQUIRE(suites.size() == 1);
    const auto& tests = suites[0].tests;
    REQUIRE(tests.size() == 5 + 2);
    CHECK(tests[0].outcome == TestOutcome::skipped);
    CHECK(tests[1].outcome == TestOutcome::error);
    CHECK(tests[1].type == "timeout");
    CHECK(tests[2].outcome == TestOutcome::passed);
    CHECK(tests[3].outcome == TestOutcome::failure);
    CHECK(tests[3].class_name == "finalizer_repro.count=100/mode=finalizer");
    CHECK(tests[3].message == "after_drop.live_bytes.max == 0B: actual 762.9 MiB");
    CHECK(tests[4].outcome == TestOutcome::passed);  // it only warns
    CHECK(tests[4].output.starts_with("warned: "));
    CHECK(tests[5].message == "fault_cost.median < 1us: nothing to judge: the canary mapping was refused");
    CHECK(tests[6].outcome == TestOutcome::skipped);
    CHECK(tests[6].message == "no case of this run has mode=leak");
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
    CHECK(test_report(report).suites[0].tests.back().detail.find("95 % interval of the median: 0.1171362 s to") !=
          std::string::npos);
}

TEST_CASE("a case that failed is told once", "[unit]")
{
    model::RunReport report = sample_report();
    report.cases[1].status = model::Status::failed;
    CHECK(test_report(report).suites[0].tests.size() == 7);  // its assertions say why
    report.assertions.clear();
    CHECK(test_report(report).suites[0].tests.size() == 3);
    CHECK(test_report(report).suites[0].tests[0].type == "case");
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
