// A result document, taken apart while it is parsed: its long lists become model values element by element, so that a
// document never stands in memory as a tree of JSON values.
//
// Cost     linear in the text.
// Memory   the model values, and one case without its lists.
// Errors   invalid_input: no JSON, at file:line:column, or nested deeper than any result needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/json/json_node.hpp"

namespace memsweep::reporters {

struct ResultDocument {
    Json rest;  // everything but the elements of `cases`
    std::vector<model::CaseReport> cases;
    Problem problem;  // the first one in `cases`, or a key that is given twice
};

// `where` names the source in messages.
[[nodiscard]] base::Expected<ResultDocument> parse_result(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
