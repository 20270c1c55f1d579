#include "reporters/formats.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/suggest.hpp"
#include "reporters/bmf_writer.hpp"
#include "reporters/csv_writer.hpp"
#include "reporters/gbench_writer.hpp"
#include "reporters/gha_writer.hpp"
#include "reporters/health_writer.hpp"
#include "reporters/html_writer.hpp"
#include "reporters/json_writer.hpp"
#include "reporters/junit_writer.hpp"
#include "reporters/markdown_writer.hpp"
#include "reporters/nvbandwidth_writer.hpp"
#include "reporters/prom_writer.hpp"
#include "reporters/terminal_writer.hpp"
#include "reporters/trace_writer.hpp"
#include "reporters/vega_writer.hpp"

namespace memsweep::reporters {
namespace {

template <std::string (*to_text)(const model::RunReport&)>
void write_whole(const model::RunReport& report, TextSink& sink)
{
    sink.add(to_text(report));
}

// As a file, not a terminal: everything, without colour.
std::string to_text(const model::RunReport& report)
{
    return to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true});
}

constexpr std::array<std::string_view, 3> csv_parts{"csv-summary", "csv-series", "csv-matrix"};
constexpr std::array<std::string_view, 2> gha_parts{"gha-smaller", "gha-bigger"};

std::string without_ending(const std::string& path, std::string_view ending)
{
    return path.ends_with(ending) ? path.substr(0, path.size() - ending.size()) : path;
}

}  // namespace

std::span<const Format> formats()
{
    static constexpr std::array<Format, 20> table{{
        {"text", ".txt", "what the terminal shows, 120 columns wide and in full", write_whole<to_text>},
        {"json", ".json", "the whole result, format memsweep-result version 1; every other format is made from it",
         write_json},
        {"html", ".html", "one self-contained page: findings, charts, cases, points, phases, assertions, machine",
         write_whole<to_html>},
        {"csv", ".csv", "one row per repetition and metric", write_csv, csv_parts},
        {"csv-summary", ".summary.csv", "one row per case and metric: median, interval, spread", write_csv_summary},
        {"csv-series", ".series.csv", "the sampled curves: one row per case, repetition, series and time",
         write_csv_series},
        {"csv-matrix", ".matrix.csv", "quantities between every two places: one row per pair", write_csv_matrix},
        {"gbench", ".gbench.json", "Google Benchmark's JSON: one entry per repetition, for its compare.py",
         write_gbench},
        {"gha", ".json", "github-action-benchmark: medians, one file per direction", write_gha_smaller, gha_parts,
         gha_fits_one_file},
        {"gha-smaller", ".smaller.json", "what gha writes for customSmallerIsBetter", write_gha_smaller},
        {"gha-bigger", ".bigger.json", "what gha writes for customBiggerIsBetter", write_gha_bigger},
        {"bmf", ".bmf.json", "Bencher Metric Format: medians with their intervals", write_bmf},
        {"prom", ".prom", "medians for node_exporter's textfile collector", write_prom},
        {"openmetrics", ".metrics.txt", "medians as OpenMetrics 1.0", write_openmetrics},
        {"junit", ".junit.xml", "JUnit XML: a test case per assertion", write_junit},
        {"trace", ".trace.json", "Chrome trace events for Perfetto: phases, curves, named points", write_trace},
        {"vega", ".vl.json", "the charts of html alone, as one Vega-Lite specification", write_whole<to_vega>},
        {"nvbandwidth", ".nvbandwidth.json",
         "nvbandwidth's JSON: bandwidths in GB/s, latencies in ns, matrices of nodes", write_nvbandwidth},
        {"health", ".health.ndjson", "one line of JSON if the host is bad, with the evidence; nothing if it is well",
         write_health},
        {"md", ".md", "Markdown for a GitHub job summary: the verdict first", write_markdown},
    }};
    return table;
}

std::string text_in(const Format& format, const model::RunReport& report)
{
    return whole_text([&](TextSink& sink) { format.write(report, sink); });
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

base::Expected<Format> find_format(std::string_view name)
{
    const auto found = std::ranges::find(formats(), name, &Format::name);
    if (found != formats().end()) {
        return *found;
    }
    std::vector<std::string_view> known;
    std::ranges::transform(formats(), std::back_inserter(known), &Format::name);
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, known)));
}

}  // namespace memsweep::reporters
