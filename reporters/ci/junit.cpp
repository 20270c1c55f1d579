#include "reporters/ci/junit.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "reporters/text/html_text.hpp"

namespace memsweep::reporters {
namespace {

// Two characters of Unicode that XML 1.0 has no place for; all other such ones are control characters.
std::string xml(std::string text)
{
    constexpr std::array<std::string_view, 2> noncharacters{"\xEF\xBF\xBE", "\xEF\xBF\xBF"};
    for (const std::string_view character : noncharacters) {
        for (std::size_t at = text.find(character); at != std::string::npos; at = text.find(character, at)) {
            text.replace(at, character.size(), "\uFFFD");
        }
    }
    return escaped(text);
}

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
        return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", xml(test.type), xml(test.message),
                           xml(test.detail));
    case TestOutcome::error:
        return fmt::format("<error type=\"{}\" message=\"{}\"/>", xml(test.type), xml(test.message));
    case TestOutcome::skipped:
        return fmt::format("<skipped message=\"{}\"/>", xml(test.message));
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
    sink.print("  <testcase classname=\"{}\" name=\"{}\" time=\"{}\">", xml(test.class_name), xml(test.name),
               seconds_text(test.seconds, is_timed));
    if (const std::string outcome = outcome_text(test); !outcome.empty()) {
        sink.print("{}{}", before, outcome);
    }
    if (!test.output.empty()) {
        sink.print("{}<system-out>{}</system-out>", before, xml(test.output));
    }
    sink.print("{}</testcase>\n", is_timed ? "" : "\n  ");
}

void write_suite(TextSink& sink, const TestSuite& suite, bool is_timed)
{
    sink.add("  <properties>\n");
    for (const Fact& fact : suite.properties) {
        sink.print("   <property name=\"{}\" value=\"{}\"/>\n", xml(fact.name), xml(fact.text));
    }
    sink.add("  </properties>\n");
    for (const TestCase& test : suite.tests) {
        write_test(sink, test, is_timed);
    }
    if (!suite.output.empty()) {
        sink.add("  <system-out>");
        for (const std::string& line : suite.output) {
            sink.print("{}\n", xml(line));
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

}  // namespace

void write_junit(const TestReport& tests, TextSink& sink)
{
    const std::string when = tests.timestamp.empty() ? "" : fmt::format(" timestamp=\"{}\"", tests.timestamp);
    sink.print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}{}>\n", tests.name,
               totals_text(totals(tests.suites), tests.is_timed), when);
    for (const TestSuite& suite : tests.suites) {
        sink.print(" <testsuite name=\"{}\" {}{}>\n", xml(suite.name), totals_text(totals({&suite, 1}), tests.is_timed),
                   when);
        write_suite(sink, suite, tests.is_timed);
        sink.add(" </testsuite>\n");
    }
    sink.add("</testsuites>\n");
}

}  // namespace memsweep::reporters
