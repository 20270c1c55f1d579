// Reads a result file for a command.
#pragma once

#include <string>
#include <variant>

#include "core/base/expected.hpp"
#include "core/model/fleet.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

// Path "-" is the standard input. Errors name the path and the place within.
[[nodiscard]] base::Expected<model::RunReport> read_result(const std::string& path);

// Whichever of both the file holds.
using AnyResult = std::variant<model::RunReport, model::Fleet>;
[[nodiscard]] base::Expected<AnyResult> read_any_result(const std::string& path);

}  // namespace memsweep::app
