// A result as JSON: `format: memsweep-result`, version 1, as docs/result-format.md describes it.
//
// Units    as in the model: bytes, seconds, counts; the unit of a metric and of a series is written beside it.
//          Numbers are the shortest text that reads back to the same double; seeds keep all 64 bits.
// Errors   none: text that is not UTF-8 is repaired with U+FFFD, and a number that is not finite becomes null
//          (with a reason where the format has a place for one).
// Memory   one metric or one curve at a time, besides what the sink holds.
#pragma once

#include <string>

#include "core/model/report.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// One document ending in a newline. The same report gives the same bytes, on every machine and in every locale.
void write_json(const model::RunReport& report, TextSink& sink);
[[nodiscard]] std::string to_json(const model::RunReport& report);

}  // namespace memsweep::reporters
