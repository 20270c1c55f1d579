#include "reporters/document/history.hpp"
#include "reporters/formats.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/measure/summary.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"
#include "tests/reporters/sample_report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::reporters {
namespace {

// Runs of one result; its times become half as long again with the eighth, its counters one larger with the fourth.
HistoryReport history_of(const model::RunReport& report, std::size_t runs = 16)
{
    measure::HistoryBuilder builder;
    for (std::size_t run = 0; run < runs; ++run) {
        model::RunReport one = report;
        one.run.id += fmt::format("-{}", run);
        one.run.started = fmt::format("2026-02-{:02}T10:00:00Z", run + 1);
        for (model::CaseReport& of : one.cases) {
            for (model::Metric& metric : of.metrics) {
                for (auto& value : metric.values) {
                    if (value && metric.metric_class == model::MetricClass::noisy) {
                        *value *= (run < 8 ? 1 : 1.5) * (1 + 0.001 * static_cast<double>(run * 7 % 5));
                    } else if (value) {
                        *value += run < 4 ? 0 : 1;
                    }
                }
                metric.summary = measure::summarize(metric.values);
            }
        }
        builder.add(fmt::format("run-{}.json", run), one);
    }
    model::RunReport elsewhere = report;
    elsewhere.run.id = "elsewhere";
    elsewhere.machine.fingerprint = "another machine";
    builder.add("elsewhere.json", elsewhere);
    return {report.tool, builder.finish({})};
}

std::string written(std::string_view format, const HistoryReport& report)
{
    return whole_text([&](TextSink& sink) { find_format<HistoryReport>(format)->write(report, sink); });
}

}  // namespace

TEST_CASE("every format of a history names what changed, since when, and what was left out", "[unit]")
{
    const HistoryReport report = history_of(sample_report());
    REQUIRE(report.histories.histories.size() == 1);
    for (const std::string_view format : format_names<HistoryReport>()) {
        INFO(format);
        const std::string text = written(format, report);
        CHECK_THAT(text, Catch::Matchers::Contains("wall_time"));
        CHECK_THAT(text, Catch::Matchers::Contains("regressed"));
        CHECK_THAT(text, Catch::Matchers::Contains("2026-02-09"));
        if (format != "csv") {
            CHECK_THAT(text, Catch::Matchers::Contains("elsewhere.json: the only run"));
        }
    }
}

TEST_CASE("the JSON of a history has a point per run and finds its changes again", "[unit]")
{
    const auto document = nlohmann::json::parse(written("json", history_of(sample_report())));
    const auto& history = document["histories"][0];
    CHECK(history["runs"].size() == 16);
    std::size_t changes = 0;
    for (const auto& trend : history["trends"]) {
        CHECK(trend["points"].size() == 16);
        for (const auto& change : trend["changes"]) {
            CHECK(change["run"] == (trend["class"] == "exact" ? 4 : 8));
            ++changes;
        }
    }
    CHECK(changes > 0);
}

TEST_CASE("no line of a history is wider than the terminal", "[unit]")
{
    const int width = GENERATE(40, 80, 120);
    for (const model::RunReport& base : {sample_report(), hostile_report()}) {
        const std::string text = to_terminal(history_of(base), {.width = width, .color = false, .verbose = true});
        for (std::size_t start = 0; start < text.size();) {
            const std::size_t end = text.find('\n', start);
            const std::string line = text.substr(start, end - start);
            INFO(line);
            CHECK(display_width(line) <= width);
            start = end + 1;
        }
    }
}

TEST_CASE("hostile names cannot leave their place in a history", "[unit]")
{
    const HistoryReport report = history_of(hostile_report());
    for (const std::string_view format : format_names<HistoryReport>()) {
        const std::string text = written(format, report);
        CHECK((repaired_utf8(text) == text));
    }
    const std::string html = written("html", report);
    CHECK(html.find("<img") == std::string::npos);
    CHECK(nlohmann::json::accept(written("json", report)));
}

}  // namespace memsweep::reporters
