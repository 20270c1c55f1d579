#include "reporters/document/comparison.hpp"
#include "reporters/formats.hpp"

#include <fmt/format.h>

#include "core/measure/comparison.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/display_text.hpp"
#include "tests/reporters/golden.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

// Slower, with fewer faults, without a counter, and with a case that breaks off.
model::RunReport changed(model::RunReport report)
{
    for (model::Metric& metric : report.cases.front().metrics) {
        for (auto& value : metric.values) {
            if (value && metric.name == "wall_time") {
                *value *= 1.5;
            } else if (value && metric.name == "minor_faults") {
                *value -= 1000;
            }
        }
    }
    std::erase_if(report.cases.front().metrics,
                  [](const model::Metric& metric) { return metric.name == "floating_bytes_peak"; });
    report.cases[1].status = model::Status::error;
    report.cases[1].reason = "killed by signal 11";
    return report;
}

ComparisonReport comparison_of(const model::RunReport& base, const model::RunReport& candidate)
{
    ComparisonReport report;
    report.tool.name = "memsweep";
    report.tool.version = "0.0.0";
    report.comparisons = {*measure::compare_reports(base, candidate, {})};
    report.comparisons[0].base.name = "base.json";
    report.comparisons[0].candidate.name = "candidate.json";
    report.explain = true;
    return report;
}

std::string written(std::string_view format, const ComparisonReport& report)
{
    return text_in(*find_format<ComparisonReport>(format), report);
}

}  // namespace

TEST_CASE("every format of a comparison writes its golden file", "[unit]")
{
    const ComparisonReport report = comparison_of(sample_report(), changed(sample_report()));
    for (const std::string_view format : format_names<ComparisonReport>()) {
        if (format != "html") {  // which carries its scripts, and draws what the results hold
            check_golden(fmt::format("comparison.{}", format), written(format, report));
        }
    }
    check_golden("comparison.color.text", to_terminal(report, {.width = 80, .color = true, .verbose = false}));
}

TEST_CASE("no line of a comparison is wider than the terminal", "[unit]")
{
    const int width = GENERATE(40, 57, 80, 120);
    for (const model::RunReport& base : {sample_report(), hostile_report()}) {
        const std::string text =
            to_terminal(comparison_of(base, changed(base)), {.width = width, .color = false, .verbose = false});
        for (std::size_t start = 0; start < text.size();) {
            const std::size_t end = text.find('\n', start);
            const std::string line = text.substr(start, end - start);
            INFO(line);
            CHECK(display_width(line) <= width);
            start = end + 1;
        }
    }
}

TEST_CASE("a metric is named in full, however long the intervals beside it are", "[unit]")
{
    ComparisonReport report = comparison_of(sample_report(), changed(sample_report()));
    for (measure::MetricComparison& metric : report.comparisons[0].metrics) {
        metric.verdict = measure::Verdict::insufficient;
        if (metric.shift) {
            metric.shift = measure::Shift{.is_ratio = false, .estimate = -12345, .interval = {{-1234567, 1234567}}};
        }
    }
    const std::string text = to_terminal(report, {.width = 80, .color = false, .verbose = false});
    for (const measure::MetricComparison& metric : report.comparisons[0].metrics) {
        CHECK_THAT(text, Catch::Matchers::Contains(metric.metric));
    }
    CHECK_THAT(text, !Catch::Matchers::Contains("\u2026"));
}

TEST_CASE("a ratio that would read 1.00x is the same or within noise", "[unit]")
{
    const auto row = [](double estimate, measure::Verdict verdict) {
        ComparisonReport report = comparison_of(sample_report(), sample_report());
        for (measure::MetricComparison& metric : report.comparisons[0].metrics) {
            if (metric.metric == "wall_time") {
                metric.verdict = verdict;
                metric.shift = measure::Shift{.is_ratio = true, .estimate = estimate, .interval = {{0.8, 1.25}}};
            }
        }
        const std::string text = written("md", report);
        const std::size_t at = text.find("| wall_time |");
        return text.substr(at, text.find('\n', at) - at);
    };
    CHECK_THAT(row(1.00002, measure::Verdict::inconclusive),
               Catch::Matchers::Contains("| within noise | 0.80..1.25 |"));
    CHECK_THAT(row(1.00002, measure::Verdict::same), Catch::Matchers::Contains("| the same | 0.80..1.25 |"));
    CHECK_THAT(row(1.0002, measure::Verdict::inconclusive), Catch::Matchers::Contains("| 1.0002x | 0.80..1.25 |"));
    CHECK_THAT(row(1.5, measure::Verdict::inconclusive), Catch::Matchers::Contains("| 1.50x | 0.80..1.25 |"));
}

TEST_CASE("the page of a comparison says the verdict first, and shows each case before and after", "[unit]")
{
    for (const model::RunReport& base : {sample_report(), hostile_report()}) {
        const model::RunReport candidate = changed(base);
        const std::string html = written("html", comparison_of(base, candidate));
        CHECK(html.find("<section class=\"verdict bad\">") < html.find("<table"));
        CHECK(html.find("default-src 'none'") != std::string::npos);
        CHECK(html.find("as candidate / base") != std::string::npos);
        CHECK(html.find("base: base.json") != std::string::npos);
        CHECK(html.find("candidate: candidate.json") != std::string::npos);
        CHECK(html.find("killed by signal 11") != std::string::npos);
        CHECK(html.find("<img") == std::string::npos);
    }
}

TEST_CASE("a regression without a gate is shown and fails nothing", "[unit]")
{
    ComparisonReport report = comparison_of(sample_report(), changed(sample_report()));
    report.gate = false;
    CHECK_THAT(written("text", report), Catch::Matchers::Contains("the gate is off"));
    CHECK_THAT(written("junit", report), !Catch::Matchers::Contains("<failure"));
    CHECK_THAT(written("json", report), !Catch::Matchers::Contains("\"gates\": true"));
}

TEST_CASE("a format of a comparison is found by its name, and a mistyped one gets a suggestion", "[unit]")
{
    CHECK(find_format<ComparisonReport>("junit"));
    const auto unknown = find_format<ComparisonReport>("jnuit");
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().message == "unknown format \"jnuit\"; did you mean \"junit\"?");
}

}  // namespace memsweep::reporters
