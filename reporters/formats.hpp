// The formats a result can be written in: what `-r FMT[=FILE]` and `report -f FMT` accept.
//
// A format with parts writes a file for each, beside the one that was named.
//
// Memory   html, vega and text are put together before they are passed on; the others as they are written.
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

struct Format {
    std::string_view name;       // as on the command line
    std::string_view extension;  // of a file written beside the result: ".csv", ".summary.csv"
    std::string_view description;
    void (*write)(const model::RunReport&, TextSink&);
    std::span<const std::string_view> parts{};  // formats that go beside it when it goes to a file
    // Of a format that is nothing but its parts: whether `write` says everything about a report all the same.
    bool (*fits_one_text)(const model::RunReport&){};
};

// A file of its own: "csv" as r.csv comes with r.summary.csv, r.series.csv and r.matrix.csv.
struct FormatFile {
    std::string path;
    Format format;
};

[[nodiscard]] std::span<const Format> formats();
[[nodiscard]] std::string text_in(const Format& format, const model::RunReport& report);
// Every file that a format makes of the path it is given; parts replace the format's own ending, if the path has it.
[[nodiscard]] std::vector<FormatFile> files_of(const Format& format, const std::string& path);
[[nodiscard]] base::Expected<Format> find_format(std::string_view name);

}  // namespace memsweep::reporters
