// Reads a result that json_writer wrote, here or elsewhere.
//
// Units    as in the model; a null where a number belongs is read as "not a number" and written as null again.
// Cost     linear in the text.
// Memory   the report, and one case without its lists.
// Errors   invalid_input, with `where` and the place in the document ("cases[3].params.mode: ..."): no JSON, another
//          format, a format_version newer than this tool knows, a missing key, a value of the wrong type, or nesting
//          deeper than any result needs. Unknown keys are skipped: a newer tool may have added them.
#pragma once

#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"

namespace memsweep::reporters {

// `where` names the source in messages: a path, or "stdin". For text that this version wrote,
// to_json(*read_json(text, where)) == text.
[[nodiscard]] base::Expected<model::RunReport> read_json(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
