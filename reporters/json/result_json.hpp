// A result as JSON, written and read: `format: memsweep-result`, version 1, as docs/result-format.md describes it.
//
// Units    as in the model: bytes, seconds, counts; the unit of a metric and of a series is written beside it.
//          Numbers are the shortest text that reads back to the same double. Seeds keep all 64 bits. A null where a
//          number belongs is read as "not a number" and written as null again.
// Cost     linear in the text.
// Memory   of writing: one metric or one curve at a time, besides what the sink holds; of reading: the report, and the
//          JSON tree of one case at a time, without its long lists.
// Errors   of writing: none. Text that is not UTF-8 is repaired with U+FFFD. A number that is not finite becomes null,
//          with a reason if the format has a key for the reason.
//          of reading: invalid_input, with `where` and the path in the document ("cases[3].params.mode: ..."). The text
//          is no JSON; it has another format, or a format_version newer than this tool knows; a key is missing; a value
//          has the wrong type; or nesting is deeper than any result needs. Unknown keys are skipped, because a newer
//          tool may have added them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// Whether to add a summary to metrics that have values but no summary. Metrics have no summary while they are measured:
// to sum up after every repetition would take time in proportion to the square of the number of repetitions.
enum class Summaries : std::uint8_t { complete, as_they_are };

// Both functions make one document that ends in a newline. The same report gives the same bytes, on every machine and
// in every locale.
void write_json(const model::RunReport& report, TextSink& sink);
[[nodiscard]] std::string to_json(const model::RunReport& report, Summaries summaries = Summaries::complete);

// Reads a result. `where` names the source in messages: a path, or "stdin". For text that this version wrote,
// to_json(*read_json(text, where)) == text.
[[nodiscard]] base::Expected<model::RunReport> read_json(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
