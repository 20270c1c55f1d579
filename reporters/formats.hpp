// The formats a result can be written in: what `-r FMT[=FILE]` and `report -f FMT` accept.
//
// Errors   invalid_input for an unknown name, with the nearest known one.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::reporters {

struct Format {
    std::string_view name;       // as on the command line
    std::string_view extension;  // of a file written beside the result: ".csv", ".summary.csv"
    std::string_view description;
    std::string (*write)(const model::RunReport&);
};

[[nodiscard]] std::span<const Format> formats();
[[nodiscard]] base::Expected<Format> find_format(std::string_view name);

}  // namespace memsweep::reporters
