#include "reporters/junit_writer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "reporters/html_text.hpp"
#include "reporters/junit_tests.hpp"
#include "reporters/run_facts.hpp"
#include "reporters/utc_time.hpp"

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

std::ptrdiff_t count(const TestSuite& suite, Outcome outcome)
{
    return std::ranges::count(suite.tests, outcome, &TestCase::outcome);
}

void write_outcome(TextSink& sink, const TestCase& test)
{
    switch (test.outcome) {
    case Outcome::passed:
        break;
    case Outcome::failure:
        sink.print("<failure type=\"{}\" message=\"{}\">{}</failure>", xml(test.type), xml(test.message),
                   xml(test.detail));
        break;
    case Outcome::error:
        sink.print("<error type=\"{}\" message=\"{}\"/>", xml(test.type), xml(test.message));
        break;
    case Outcome::skipped:
        sink.print("<skipped message=\"{}\"/>", xml(test.message));
        break;
    }
}

void write_test(TextSink& sink, const TestCase& test)
{
    sink.print("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\">", xml(test.class_name), xml(test.name),
               test.seconds);
    write_outcome(sink, test);
    if (!test.output.empty()) {
        sink.print("<system-out>{}</system-out>", xml(test.output));
    }
    sink.add("</testcase>\n");
}

void write_properties(TextSink& sink, const model::RunReport& report)
{
    sink.add("  <properties>\n");
    const auto write = [&](const std::vector<Fact>& facts) {
        for (const Fact& fact : facts) {
            sink.print("   <property name=\"{}\" value=\"{}\"/>\n", xml(fact.name), xml(fact.text));
        }
    };
    write(run_facts(report));
    write(machine_facts(report.machine));
    sink.add("  </properties>\n");
}

void write_warnings(TextSink& sink, const std::vector<model::Warning>& warnings)
{
    if (warnings.empty()) {
        return;
    }
    sink.add("  <system-out>");
    for (const model::Warning& warning : warnings) {
        sink.print("warning {}: {} {}\n", xml(warning.code), xml(warning.message), xml(warning.hint));
    }
    sink.add("  </system-out>\n");
}

std::string timestamp(const model::RunReport& report)
{
    const std::optional<std::string> time = seconds_part(report.run.started);
    return time ? fmt::format(" timestamp=\"{}\"", *time) : std::string{};
}

struct Totals {
    std::size_t tests{};
    std::ptrdiff_t failures{}, errors{}, skipped{};
    double seconds{};
};

Totals totals(const std::vector<TestSuite>& suites)
{
    Totals all;
    for (const TestSuite& suite : suites) {
        all.tests += suite.tests.size();
        all.failures += count(suite, Outcome::failure);
        all.errors += count(suite, Outcome::error);
        all.skipped += count(suite, Outcome::skipped);
        all.seconds += suite.seconds;
    }
    return all;
}

std::string totals_text(const Totals& of)
{
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"", of.tests,
                       of.failures, of.errors, of.skipped, of.seconds);
}

}  // namespace

void write_junit(const model::RunReport& report, TextSink& sink)
{
    const std::vector<TestSuite> suites = test_suites(report);
    const std::string when = timestamp(report);
    sink.print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"memsweep\" {}{}>\n",
               totals_text(totals(suites)), when);
    for (const TestSuite& suite : suites) {
        sink.print(" <testsuite name=\"{}\" {}{}>\n", xml(suite.name), totals_text(totals({suite})), when);
        write_properties(sink, report);
        std::ranges::for_each(suite.tests, [&](const TestCase& test) { write_test(sink, test); });
        if (&suite == suites.data()) {  // they are about the whole run
            write_warnings(sink, report.warnings);
        }
        sink.add(" </testsuite>\n");
    }
    sink.add("</testsuites>\n");
}

}  // namespace memsweep::reporters
