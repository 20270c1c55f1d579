// The names by which benchmark trackers identify cases.
//
// A tracker draws one chart per name and pairs two results by name, so names are plain text and unique. Only cases that
// ended ok have a name: a tracker would take the incomplete values of a broken case for complete ones.
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

// Returns the text with only letters, digits and _-./=:,+@~^. Every other byte is written as %XX, as in a URL.
[[nodiscard]] std::string ascii_name(std::string_view text);

// If several names are the same, appends a number to all but the first: #2, #3 and so on.
[[nodiscard]] std::vector<std::string> unique_names(std::vector<std::string> names,
                                                    std::string_view before_number = "#");

// Returns the cases that ended ok, in the order of the report, named by their ids.
[[nodiscard]] std::vector<NamedCase> named_cases(const model::RunReport& report);

}  // namespace memsweep::reporters
