#include "reporters/formats.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/html/chart_writers.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/fleet_json.hpp"
#include "reporters/json/result_json.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::reporters {
namespace {

// As a file, not a terminal: everything, without colour.
template <typename Report>
void write_text(const Report& report, TextSink& sink)
{
    sink.add(to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true}));
}

template <typename Report>
void write_markdown(const Report& report, TextSink& sink)
{
    sink.add(to_markdown(report));
}

template <typename Report>
void write_page(const Report& report, TextSink& sink)
{
    sink.add(to_html(report));
}

template <typename Report>
void write_whole_json(const Report& report, TextSink& sink)
{
    sink.add(to_json(report));
}

void write_json_of_fleet(const FleetReport& report, TextSink& sink)
{
    write_fleet_json(*report.fleet, sink);
}

void write_vega(const model::RunReport& report, TextSink& sink)
{
    sink.add(to_vega(report));
}

constexpr Writers text_writers{write_text, write_text, write_text, write_text, write_text};
constexpr Writers json_writers{write_json, write_whole_json, write_whole_json, write_json_of_fleet, write_whole_json};
constexpr Writers html_writers{write_page, write_page, write_page, write_page, write_page};
constexpr Writers csv_writers{.run = write_csv, .history = write_csv, .fleet = write_csv};
constexpr Writers junit_writers{.run = write_junit, .comparison = write_junit};
constexpr Writers health_writers{.run = write_health, .fleet = write_health};
constexpr Writers markdown_writers{write_markdown, write_markdown, write_markdown, write_markdown, write_markdown};

constexpr std::array<std::string_view, 3> csv_parts{"csv-summary", "csv-series", "csv-matrix"};
constexpr std::array<std::string_view, 2> gha_parts{"gha-smaller", "gha-bigger"};

std::string without_ending(const std::string& path, std::string_view ending)
{
    return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

}  // namespace

std::span<const Format> formats()
{
    static constexpr auto table = std::to_array<Format>({
        {"text", ".txt", "what the terminal shows, 120 columns wide and in full", text_writers},
        {"json", ".json", "the whole result, format memsweep-result version 1; every other format is made from it",
         json_writers},
        {"html", ".html", "one self-contained page: findings, charts, cases, points, phases, assertions, machine",
         html_writers},
        {"csv", ".csv", "one row per repetition and metric", csv_writers, csv_parts},
        {"csv-summary", ".summary.csv", "one row per case and metric: median, interval, spread", {write_csv_summary}},
        {"csv-series",
         ".series.csv",
         "the sampled curves: one row per case, repetition, series and time",
         {write_csv_series}},
        {"csv-matrix", ".matrix.csv", "quantities between every two places: one row per pair", {write_csv_matrix}},
        {"gbench",
         ".gbench.json",
         "Google Benchmark's JSON: one entry per repetition, for its compare.py",
         {write_gbench}},
        {"gha",
         ".json",
         "github-action-benchmark: medians, one file per direction",
         {write_gha_smaller},
         gha_parts,
         gha_fits_one_file},
        {"gha-smaller", ".smaller.json", "what gha writes for customSmallerIsBetter", {write_gha_smaller}},
        {"gha-bigger", ".bigger.json", "what gha writes for customBiggerIsBetter", {write_gha_bigger}},
        {"bmf", ".bmf.json", "Bencher Metric Format: medians with their intervals", {write_bmf}},
        {"prom", ".prom", "medians for node_exporter's textfile collector", {write_prom}},
        {"openmetrics", ".metrics.txt", "medians as OpenMetrics 1.0", {write_openmetrics}},
        {"junit", ".junit.xml", "JUnit XML: a test case per assertion", junit_writers},
        {"trace", ".trace.json", "Chrome trace events for Perfetto: phases, curves, named points", {write_trace}},
        {"vega", ".vl.json", "the charts of html alone, as one Vega-Lite specification", {write_vega}},
        {"nvbandwidth",
         ".nvbandwidth.json",
         "nvbandwidth's JSON: bandwidths in GB/s, latencies in ns, matrices of nodes",
         {write_nvbandwidth}},
        {"health", ".health.ndjson", "one line of JSON if the host is bad, with the evidence; nothing if it is well",
         health_writers},
        {"md", ".md", "Markdown for a GitHub job summary: the verdict first", markdown_writers},
    });
    return table;
}

bool Format::writes(Subject subject) const
{
    switch (subject) {
    case Subject::run:
        return writers.run != nullptr;
    case Subject::comparison:
        return writers.comparison != nullptr;
    case Subject::history:
        return writers.history != nullptr;
    case Subject::fleet:
        return writers.fleet != nullptr;
    case Subject::fleet_trend:
        return writers.fleet_trend != nullptr;
    }
    return false;
}

std::vector<std::string_view> format_names(Subject subject)
{
    std::vector<std::string_view> names;
    for (const Format& format : formats()) {
        if (format.writes(subject)) {
            names.push_back(format.name);
        }
    }
    return names;
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

base::Expected<Format> find_format(std::string_view name, Subject subject)
{
    const auto found = std::ranges::find(formats(), name, &Format::name);
    if (found != formats().end() && found->writes(subject)) {
        return *found;
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, format_names(subject))));
}

}  // namespace memsweep::reporters
