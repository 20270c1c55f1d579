// A gate: what a comparison judges, and by how much it may change, kept in a file so that a team agrees on it once.
// `format: memsweep-gate`, version 1; docs/measurement.md describes it.
//
// Errors   as the loader's: all of them at once, `where` = "file:line:col"; an unreadable file is one error with code
//          io.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.hpp"
#include "core/measure/comparison.hpp"

namespace memsweep::scenarios {

using LoadedGate = tl::expected<measure::Criteria, std::vector<base::Error>>;

[[nodiscard]] LoadedGate load_gate(const std::string& path);

// The same for text already read; `name` stands for the path.
[[nodiscard]] LoadedGate load_gate_text(const std::string& name, std::string_view text);

}  // namespace memsweep::scenarios
