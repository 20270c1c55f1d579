// The formats of results, and of reports that are made from several results, such as comparisons. `-r FMT[=FILE]`,
// `report -f FMT` and `compare -f FMT` accept them.
//
// A format with parts writes one file for each part, beside the named file.
//
// Memory   html, md, svg, vega, text and hyperfine are complete in memory before they are passed on. So is json, except
//          that of runs and fleets. All other formats are passed on while they are written.
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/expected.hpp"
#include "core/base/text.hpp"
#include "core/model/report.hpp"
#include "reporters/document/advice.hpp"
#include "reporters/document/compared_run.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/fleet.hpp"
#include "reporters/document/fleet_trend.hpp"
#include "reporters/document/history.hpp"
#include "reporters/document/leaks.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

template <typename Report>
using Writer = void (*)(const Report&, TextSink&);

// One for each kind of report; null: the format cannot show that kind.
using Writers =
    std::tuple<Writer<model::RunReport>, Writer<ComparisonReport>, Writer<HistoryReport>, Writer<FleetReport>,
               Writer<FleetTrendReport>, Writer<LeaksReport>, Writer<AdviceReport>, Writer<ComparedRun>>;

struct Format {
    std::string_view name;       // as on the command line
    std::string_view extension;  // of files written beside the result: ".csv", ".summary.csv"
    std::string_view description;
    Writers writers;
    std::span<const std::string_view> parts{};  // formats that are also written if this format goes to a file
    // Null: the text of write() is a file of its own, besides the parts. Otherwise the format consists of its parts
    // alone, and this function says whether the text of write() holds the whole report.
    bool (*fits_one_text)(const model::RunReport&){};
    // For a part: whether it has any rows for the report. Null: it always has rows.
    bool (*has_rows)(const model::RunReport&){};

    template <typename Report>
    [[nodiscard]] bool writes() const
    {
        return std::get<Writer<Report>>(writers) != nullptr;
    }
    template <typename Report>  // call it only if writes<Report>()
    void write(const Report& report, TextSink& sink) const
    {
        std::get<Writer<Report>>(writers)(report, sink);
    }
};

// One file that a format writes. For example, the format "csv" with the path r.csv also writes r.summary.csv,
// r.series.csv and r.matrix.csv.
struct FormatFile {
    std::string path;
    Format format;
};

[[nodiscard]] std::span<const Format> formats();  // all of them can write runs
template <typename Report>
[[nodiscard]] std::vector<std::string_view> format_names();
template <typename Report = model::RunReport>
[[nodiscard]] base::Expected<Format> find_format(std::string_view name);

// Returns all files that a format writes for a path. If the path ends in the format's own extension, the path of each
// part has the part's extension instead. Otherwise the extension of the part is appended to the path.
[[nodiscard]] std::vector<FormatFile> files_of(const Format& format, const std::string& path);

template <typename Report>
std::vector<std::string_view> format_names()
{
    std::vector<std::string_view> names;
    for (const Format& format : formats()) {
        if (format.writes<Report>()) {
            names.push_back(format.name);
        }
    }
    return names;
}

template <typename Report>
base::Expected<Format> find_format(std::string_view name)
{
    const auto found = std::ranges::find(formats(), name, &Format::name);
    if (found != formats().end() && found->template writes<Report>()) {
        return *found;
    }
    return base::fail(base::ErrorCode::invalid_input,
                      fmt::format("unknown format \"{}\"{}", name, base::suggestion(name, format_names<Report>())));
}

template <typename Report>
[[nodiscard]] std::string text_in(const Format& format, const Report& report)
{
    return whole_text([&](TextSink& sink) { format.write(report, sink); });
}

}  // namespace memsweep::reporters
