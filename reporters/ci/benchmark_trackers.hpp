// The names by which trackers of benchmarks keep cases.
//
// A tracker draws one chart per name and pairs two results by it, so that names must be plain and no two alike.
// Only cases that ended ok have one: a tracker would keep what is left of a broken case as a figure like any other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::reporters {

struct NamedCase {
    const model::CaseReport* report{};
    std::string name;
};

// Printable ASCII without blanks, quotes or brackets; every other byte is written %XX, as in a URL.
[[nodiscard]] std::string ascii_name(std::string_view text);

// A name that is taken already gets a number behind it: #2, #3 and so on.
[[nodiscard]] std::vector<std::string> unique_names(std::vector<std::string> names,
                                                    std::string_view before_number = "#");

// The cases that ended ok, in their order, by their id.
[[nodiscard]] std::vector<NamedCase> named_cases(const model::RunReport& report);

}  // namespace memsweep::reporters
