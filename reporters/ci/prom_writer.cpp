#include "reporters/ci/prom_writer.hpp"

#include <cmath>
#include <optional>

#include "reporters/ci/prom_names.hpp"
#include "reporters/text/number_text.hpp"
#include "reporters/text/utc_time.hpp"
#include "reporters/text/utf8.hpp"

namespace memsweep::reporters {
namespace {

enum class Dialect { prometheus, openmetrics };

void head(TextSink& sink, Dialect dialect, std::string_view name, std::string_view unit, std::string_view help)
{
    sink.print("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
    if (dialect == Dialect::openmetrics && !unit.empty()) {
        sink.print("# UNIT {} {}\n", name, unit);
    }
}

// One line, and nothing in it that either dialect would take for an escape.
std::string help_text(const std::string& metric)
{
    const model::MetricInfo* info = model::find_metric(model::metric_catalog(), metric);
    std::string text;
    for (const char c : inert_text(info == nullptr ? std::string_view{metric} : info->meaning)) {
        text += c == '\\' ? '/' : c == '"' ? '\'' : c;
    }
    return "Median: " + text;
}

void family(TextSink& sink, Dialect dialect, const Family& one, const model::RunReport& report,
            const std::vector<std::string>& labels)
{
    head(sink, dialect, one.name, unit_word(one.unit), help_text(one.metric));
    for (std::size_t i = 0; i < report.cases.size(); ++i) {
        const model::Metric* metric = model::find_metric(report.cases[i], one.metric);
        const bool is_shown = report.cases[i].status == model::Status::ok && metric != nullptr &&
                              metric->unit == one.unit && metric->summary && std::isfinite(metric->summary->median);
        if (is_shown) {
            sink.print("{}{{{}}} {}\n", one.name, labels[i], number_text(metric->summary->median));
        }
    }
}

constexpr std::string_view build_info = "memsweep_build_info";
constexpr std::string_view last_run = "memsweep_last_run_timestamp_seconds";
constexpr std::string_view assertions_failed = "memsweep_assertions_failed";
constexpr std::string_view cases = "memsweep_cases";

void about_tool(TextSink& sink, Dialect dialect, const model::RunReport& report)
{
    constexpr std::string_view help = "The memsweep that measured.";
    if (dialect == Dialect::openmetrics) {
        sink.print("# HELP memsweep_build {}\n# TYPE memsweep_build info\n", help);
    } else {
        head(sink, dialect, build_info, {}, help);
    }
    sink.print("{}{{{},{},{}}} 1\n", build_info, label("scenario", report.run.scenario_name),
               label("version", report.tool.version), label("revision", report.tool.commit));
}

void about_run(TextSink& sink, Dialect dialect, const model::RunReport& report)
{
    const std::string scenario = label("scenario", report.run.scenario_name);
    const std::string& when = report.run.ended.empty() ? report.run.started : report.run.ended;
    if (const std::optional<double> seconds = epoch_seconds(when)) {
        head(sink, dialect, last_run, "seconds", "When the run ended.");
        sink.print("{}{{{}}} {}\n", last_run, scenario, number_text(*seconds));
    }
    const model::Counts counts = model::count(report);
    head(sink, dialect, assertions_failed, {}, "Assertions of the run that do not hold.");
    sink.print("{}{{{}}} {}\n", assertions_failed, scenario, counts.assertions_failed);
    head(sink, dialect, cases, {}, "Cases of the run by how they ended; only those that are ok have medians.");
    const auto of_status = [&](std::string_view status, std::uint64_t count) {
        sink.print("{}{{{},status=\"{}\"}} {}\n", cases, scenario, status, count);
    };
    of_status("ok", counts.ok);
    of_status("skipped", counts.skipped);
    of_status("failed", counts.failed);
    of_status("error", counts.errors);
    of_status("timeout", counts.timeouts);
}

void write_metrics_as(const model::RunReport& report, TextSink& sink, Dialect dialect)
{
    about_tool(sink, dialect, report);
    about_run(sink, dialect, report);
    const std::vector<std::string> labels = label_sets(report);
    const std::vector<std::string> own{std::string{build_info}, "memsweep_build", std::string{last_run},
                                       std::string{assertions_failed}, std::string{cases}};
    for (const Family& one : families(report, own)) {
        family(sink, dialect, one, report, labels);
    }
}

}  // namespace

void write_prom(const model::RunReport& report, TextSink& sink)
{
    write_metrics_as(report, sink, Dialect::prometheus);
}

void write_openmetrics(const model::RunReport& report, TextSink& sink)
{
    write_metrics_as(report, sink, Dialect::openmetrics);
    sink.add("# EOF\n");
}

}  // namespace memsweep::reporters
