// Takes a result document apart while it is parsed, so that the document is never in memory as one tree of JSON values.
// The elements of its long lists are turned into model values one by one.
//
// Cost     linear in the text.
// Memory   the model values, and the JSON tree of one case at a time, without its long lists.
// Errors   invalid_input, at file:line:column: the text is no JSON, or is nested deeper than any result needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/json/json_node.hpp"

namespace memsweep::reporters {

struct ResultDocument {
    Json rest;  // the document without the elements of `cases`, and without values derived from them
    std::vector<model::CaseReport> cases;
    Problem problem;  // the first problem in `cases`, or the first key that is given twice
};

// Parses a result. `where` names the source in messages.
[[nodiscard]] base::Expected<ResultDocument> parse_result(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
