// A fleet as JSON: `format: memsweep-fleet`, version 1, as docs/result-format.md describes it.
//
// Each quantity has one list of values, with an entry per host in the order of `hosts`; null: the host has no value.
// The conclusions (`judgement`) are written for readers that do not want to compute them, and are never read back.
//
// Errors   of reading: invalid_input, in the same cases as in result_json.hpp.
// Memory   of writing: one quantity at a time; of reading: the document and the fleet.
#pragma once

#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/fleet.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// Whether a text is a fleet: whether its first 256 bytes name the format memsweep-fleet.
[[nodiscard]] bool is_fleet(std::string_view text);

// Writes one document that ends in a newline. The same fleet gives the same bytes.
void write_fleet_json(const model::Fleet& fleet, TextSink& sink);

[[nodiscard]] base::Expected<model::Fleet> read_fleet(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
