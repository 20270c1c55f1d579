#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reporters/ci/benchmark_trackers.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/number_text.hpp"

namespace memsweep::reporters {
namespace {

// Lower case, since promtool finds fault with anything else.
std::string plain_name(std::string_view text)
{
    std::string name;
    for (const char c : text) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        name += is_upper ? static_cast<char>(c - 'A' + 'a') : is_plain ? c : '_';
    }
    return name;
}

// Ends that belong to counters, histograms and summaries.
bool ends_as_another_type(std::string_view name)
{
    constexpr std::array<std::string_view, 7> ends{"_total", "_count", "_sum", "_bucket", "_created", "_info", "_gsum"};
    return std::ranges::any_of(ends, [&](std::string_view end) { return name.ends_with(end); });
}

std::string stem_of(const model::Metric& metric, const std::string& suffix)
{
    std::string stem = "memsweep_" + plain_name(metric.name);
    if (!suffix.empty() && stem.ends_with(suffix)) {
        stem.resize(stem.size() - suffix.size());
    }
    return suffix.empty() && ends_as_another_type(stem) ? stem + "_value" : stem;
}

std::string_view unit_word(model::Unit unit)
{
    switch (unit) {
    case model::Unit::bytes:
        return "bytes";
    case model::Unit::seconds:
        return "seconds";
    case model::Unit::bytes_per_second:
        return "bytes_per_second";
    case model::Unit::per_second:
        return "operations_per_second";
    case model::Unit::one:
        return {};
    }
    return {};
}

// One metric of a result under the name of its series.
struct Family {
    std::string metric;
    model::Unit unit{};
    std::string name;  // "memsweep_wall_time_seconds"
};

Family family_of(const model::Metric& metric, std::set<std::string>& taken)
{
    const std::string_view unit = unit_word(metric.unit);
    const std::string suffix = unit.empty() ? std::string{} : fmt::format("_{}", unit);
    const std::string stem = stem_of(metric, suffix);
    std::string name = stem + suffix;
    for (int number = 2; !taken.insert(name).second; ++number) {
        name = fmt::format("{}_{}{}", stem, number, suffix);
    }
    return {metric.name, metric.unit, std::move(name)};
}

// name="value", the value escaped
std::string label(std::string_view name, std::string_view value)
{
    std::string text = fmt::format("{}=\"", name);
    for (const char c : without_commands(repaired_utf8(value))) {
        if (c == '\n') {
            text += "\\n";
        } else {
            text += c == '\\' || c == '"' ? std::string{'\\', c} : std::string{c};
        }
    }
    return text + '"';
}

// Not one that means something of its own to Prometheus or to us.
std::string label_name(const std::string& axis)
{
    constexpr std::array<std::string_view, 4> reserved{"scenario", "le", "quantile", "number"};
    const std::string name = plain_name(axis);
    const bool is_free = !name.empty() && name.front() >= 'a' && std::ranges::find(reserved, name) == reserved.end();
    return is_free ? name : "axis_" + name;
}

std::string labels_of(const model::CaseReport& report)
{
    std::vector<std::string> names;
    std::ranges::transform(report.params, std::back_inserter(names),
                           [](const model::Param& param) { return label_name(param.name); });
    names = unique_names(std::move(names), "_");
    std::string labels = label("scenario", report.scenario);
    for (std::size_t i = 0; i < names.size(); ++i) {
        labels += "," + label(names[i], model::to_text(report.params[i].value));
    }
    return labels;
}

constexpr std::string_view build_info = "memsweep_build_info";
constexpr std::string_view last_run = "memsweep_last_run_timestamp_seconds";
constexpr std::string_view assertions_failed = "memsweep_assertions_failed";
constexpr std::string_view case_counts = "memsweep_cases";

// Every metric with a median of the cases that ended ok, in order of appearance; no name is used twice.
std::vector<Family> families(const model::RunReport& report)
{
    std::set<std::string> names{std::string{build_info}, "memsweep_build", std::string{last_run},
                                std::string{assertions_failed}, std::string{case_counts}};
    std::set<std::pair<std::string_view, model::Unit>> known;
    std::vector<Family> all;
    for (const model::CaseReport& one : report.cases) {
        for (const model::Metric& metric : one.metrics) {
            const bool is_shown = one.status == model::Status::ok && metric.summary;
            if (is_shown && known.emplace(metric.name, metric.unit).second) {
                all.push_back(family_of(metric, names));
            }
        }
    }
    return all;
}

// `scenario="churn",mode="refcount"` of each case, in their order, no two alike.
std::vector<std::string> label_sets(const model::RunReport& report)
{
    std::vector<std::string> sets;
    std::set<std::string> taken;
    for (const model::CaseReport& one : report.cases) {
        const std::string labels = labels_of(one);
        sets.push_back(labels);
        for (int number = 2; !taken.insert(sets.back()).second; ++number) {
            sets.back() = fmt::format("{},number=\"{}\"", labels, number);
        }
    }
    return sets;
}

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
    for (const char c : without_commands(inert_text(info == nullptr ? std::string_view{metric} : info->meaning))) {
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
    const model::StatusCounts counts = model::count(report);
    head(sink, dialect, assertions_failed, {}, "Assertions of the run that do not hold.");
    sink.print("{}{{{}}} {}\n", assertions_failed, scenario, counts.assertions_failed);
    head(sink, dialect, case_counts, {}, "Cases of the run by how they ended; only those that are ok have medians.");
    const auto of_status = [&](std::string_view status, std::uint64_t count) {
        sink.print("{}{{{},status=\"{}\"}} {}\n", case_counts, scenario, status, count);
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
    for (const Family& one : families(report)) {
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
