// The formats a result can be written in: what `-r FMT[=FILE]` and `report -f FMT` accept.
//
// Memory   json, html and text are put together before they are passed on; the others as they are written.
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

struct Format {
    std::string_view name;       // as on the command line
    std::string_view extension;  // of a file written beside the result: ".csv", ".summary.csv"
    std::string_view description;
    void (*write)(const model::RunReport&, TextSink&);
};

[[nodiscard]] std::span<const Format> formats();
[[nodiscard]] std::string text_in(const Format& format, const model::RunReport& report);
[[nodiscard]] base::Expected<Format> find_format(std::string_view name);

}  // namespace memsweep::reporters
