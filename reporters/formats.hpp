// The formats that results, and what is made of several results, can be written in: what `-r FMT[=FILE]`, `report -f
// FMT` and `compare -f FMT` accept.
//
// A format with parts writes a file for each, beside the one that was named.
//
// Memory   html, md, vega and text are put together before they are passed on; the others as they are written.
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/fleet_trend.hpp"
#include "reporters/document/history.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// What is written; one function for each that a format has a form for.
struct Writers {
    void (*run)(const model::RunReport&, TextSink&){};
    void (*comparison)(const ComparisonReport&, TextSink&){};
    void (*history)(const HistoryReport&, TextSink&){};
    void (*fleet)(const FleetReport&, TextSink&){};
    void (*fleet_trend)(const FleetTrendReport&, TextSink&){};
};
enum class Subject { run, comparison, history, fleet, fleet_trend };

struct Format {
    std::string_view name;       // as on the command line
    std::string_view extension;  // of a file written beside the result: ".csv", ".summary.csv"
    std::string_view description;
    Writers writers;
    std::span<const std::string_view> parts{};  // formats that go beside it when it goes to a file
    // Of a format that is nothing but its parts: whether `write` says everything about a report all the same.
    bool (*fits_one_text)(const model::RunReport&){};

    [[nodiscard]] bool writes(Subject subject) const;

    // Only what it writes.
    void write(const model::RunReport& report, TextSink& sink) const { writers.run(report, sink); }
    void write(const ComparisonReport& report, TextSink& sink) const { writers.comparison(report, sink); }
    void write(const HistoryReport& report, TextSink& sink) const { writers.history(report, sink); }
    void write(const FleetReport& report, TextSink& sink) const { writers.fleet(report, sink); }
    void write(const FleetTrendReport& report, TextSink& sink) const { writers.fleet_trend(report, sink); }
};

// A file of its own: "csv" as r.csv comes with r.summary.csv, r.series.csv and r.matrix.csv.
struct FormatFile {
    std::string path;
    Format format;
};

[[nodiscard]] std::span<const Format> formats();  // all of them write runs
[[nodiscard]] std::vector<std::string_view> format_names(Subject subject);
[[nodiscard]] base::Expected<Format> find_format(std::string_view name, Subject subject = Subject::run);

// Every file that a format makes of the path it is given; parts replace the format's own ending, if the path has it.
[[nodiscard]] std::vector<FormatFile> files_of(const Format& format, const std::string& path);

template <typename Report>
[[nodiscard]] std::string text_in(const Format& format, const Report& report)
{
    return whole_text([&](TextSink& sink) { format.write(report, sink); });
}

}  // namespace memsweep::reporters
