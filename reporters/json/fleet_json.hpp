// A fleet as JSON: `format: memsweep-fleet`, version 1, as docs/result-format.md describes it.
//
// The values of a quantity are in columns, with one entry per host in the order of `hosts`; null: the host has no
// value. The conclusions (`judgement`) are written for readers that do not want to compute them, and are never read
// back.
//
// Errors   of reading: invalid_input, as result_json.hpp says.
// Memory   of writing: one quantity at a time; of reading: the document and the fleet.
#pragma once

#include <string>
#include <string_view>

#include "core/base/expected.hpp"
#include "core/model/fleet.hpp"
#include "reporters/text/text_sink.hpp"

namespace memsweep::reporters {

// Whether a text is a fleet: one of its first keys says so.
[[nodiscard]] bool is_fleet(std::string_view text);

// One document that ends in a newline. The same fleet gives the same bytes.
void write_fleet_json(const model::Fleet& fleet, TextSink& sink);

[[nodiscard]] base::Expected<model::Fleet> read_fleet(std::string_view text, const std::string& where);

}  // namespace memsweep::reporters
