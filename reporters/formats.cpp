#include "reporters/formats.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/measure/cases.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/html/chart_writers.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/svg/svg_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::reporters {
namespace {

// As a file, not a terminal: everything, without colour.
constexpr auto as_text = [](const auto& report, TextSink& sink) {
    sink.add(to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true}));
};
constexpr auto as_markdown = [](const auto& report, TextSink& sink) { sink.add(to_markdown(report)); };
constexpr auto as_page = [](const auto& report, TextSink& sink) { sink.add(to_html(report)); };
constexpr auto as_picture = [](const auto& report, TextSink& sink) { sink.add(to_svg(report)); };
constexpr auto as_json = [](const auto& report, TextSink& sink) { sink.add(to_json(report)); };
constexpr auto fleet_as_json = [](const FleetReport& report, TextSink& sink) { write_fleet_json(*report.fleet, sink); };
constexpr auto as_vega = [](const auto& report, TextSink& sink) { sink.add(to_vega(report)); };

// A result of `run --against` is shown as the comparison that it was measured for; with the run if that failed.
template <auto writer>
void of_comparison_or_run(const model::RunReport& report, TextSink& sink)
{
    if (auto compared = comparison_report(report)) {
        if (has_failed(report)) {
            writer(ComparedRun{report, *std::move(compared)}, sink);
        } else {
            writer(*compared, sink);
        }
    } else {
        writer(report, sink);
    }
}

// The comparison first, then what its programs measured.
void text_of_run(const model::RunReport& report, TextSink& sink)
{
    if (auto compared = comparison_report(report); compared && has_failed(report)) {
        as_text(ComparedRun{report, *std::move(compared)}, sink);
    } else if (compared) {
        as_text(*compared, sink);
        sink.add("\n");
        as_text(without_sites(report), sink);
    } else {
        as_text(report, sink);
    }
}

constexpr Writers of_all(auto writer, Writer<model::RunReport> of_run)
{
    return {of_run, writer, writer, writer, writer, writer, writer, writer};
}

constexpr Writers of_runs(Writer<model::RunReport> writer)
{
    return {writer, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
}

// The writers for runs, comparisons, histories, fleets, fleets compared, leaks, advice, and runs that were compared.
constexpr Writers json_writers{write_json, as_json, as_json, fleet_as_json, as_json, as_json, as_json, nullptr};
constexpr Writers csv_writers{write_csv, nullptr, write_csv, write_csv, nullptr, nullptr, nullptr, nullptr};
constexpr Writers junit_writers{write_junit, write_junit, nullptr, nullptr, nullptr, write_junit, nullptr, write_junit};
constexpr Writers health_writers{write_health, nullptr, nullptr, write_health, nullptr, nullptr, nullptr, nullptr};

constexpr std::array<std::string_view, 3> csv_parts{"csv-summary", "csv-series", "csv-matrix"};
constexpr std::array<std::string_view, 2> gha_parts{"gha-smaller", "gha-bigger"};

bool has_series(const model::RunReport& report)
{
    return std::ranges::any_of(report.cases, [](const model::CaseReport& one) { return !one.series.empty(); });
}

bool has_matrices(const model::RunReport& report)
{
    return !measure::place_matrices(report.cases).empty();
}

std::string without_ending(const std::string& path, std::string_view ending)
{
    return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

}  // namespace

std::span<const Format> formats()
{
    static constexpr auto table = std::to_array<Format>({
        {"text", ".txt", "what the terminal shows, 120 columns wide and in full", of_all(as_text, text_of_run)},
        {"json", ".json", "the whole result, format memsweep-result version 1; every other format is made from it",
         json_writers},
        {"html", ".html", "one self-contained page: findings, charts, cases, points, phases, assertions, machine",
         of_all(as_page, of_comparison_or_run<as_page>)},
        {"csv", ".csv", "one row per repetition and metric", csv_writers, csv_parts},
        {"csv-summary", ".summary.csv", "one row per case and metric: median, interval, spread",
         of_runs(write_csv_summary)},
        {"csv-series",
         ".series.csv",
         "the sampled curves: one row per case, repetition, series and time",
         of_runs(write_csv_series),
         {},
         nullptr,
         has_series},
        {"csv-matrix",
         ".matrix.csv",
         "quantities between every two places: one row per pair",
         of_runs(write_csv_matrix),
         {},
         nullptr,
         has_matrices},
        {"gbench", ".gbench.json", "Google Benchmark's JSON: one entry per repetition, for its compare.py",
         of_runs(write_gbench)},
        {"hyperfine", ".hyperfine.json", "hyperfine's JSON: mean, median, min, max and all times of each case",
         of_runs(write_hyperfine)},
        {"gha", ".json", "github-action-benchmark: medians, one file per direction", of_runs(write_gha_smaller),
         gha_parts, gha_fits_one_file},
        {"gha-smaller", ".smaller.json", "what gha writes for customSmallerIsBetter", of_runs(write_gha_smaller)},
        {"gha-bigger", ".bigger.json", "what gha writes for customBiggerIsBetter", of_runs(write_gha_bigger)},
        {"bmf", ".bmf.json", "Bencher Metric Format: medians with their intervals", of_runs(write_bmf)},
        {"prom", ".prom", "medians for node_exporter's textfile collector", of_runs(write_prom)},
        {"openmetrics", ".metrics.txt", "medians as OpenMetrics 1.0", of_runs(write_openmetrics)},
        {"junit", ".junit.xml", "JUnit XML: a test case per assertion, per case without one, or per metric compared",
         junit_writers},
        {"badge",
         ".svg",
         "the verdict as a badge for a README or a pull request, SVG",
         {write_badge, write_badge, nullptr, nullptr, nullptr, nullptr, nullptr, write_badge}},
        {"trace", ".trace.json", "Chrome trace events for Perfetto: phases, curves, named points",
         of_runs(write_trace)},
        {"svg",
         ".chart.svg",
         "the first chart of html as a picture without scripts, for a README or a slide",
         {of_comparison_or_run<as_picture>, as_picture, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr}},
        {"vega", ".vl.json", "the charts of html alone, as one Vega-Lite specification", of_runs(as_vega)},
        {"health", ".health.ndjson", "one line of JSON if the host is bad, with the evidence; nothing if it is well",
         health_writers},
        {"md", ".md", "Markdown for a GitHub job summary: the verdict first",
         of_all(as_markdown, of_comparison_or_run<as_markdown>)},
    });
    return table;
}

std::vector<FormatFile> files_of(const Format& format, const std::string& path)
{
    std::vector<FormatFile> files;
    if (format.fits_one_text == nullptr) {
        files.push_back({path, format});
    }
    for (const std::string_view part : format.parts) {
        const Format& of_part = *std::ranges::find(formats(), part, &Format::name);
        files.push_back({fmt::format("{}{}", without_ending(path, format.extension), of_part.extension), of_part});
    }
    return files;
}

}  // namespace memsweep::reporters
