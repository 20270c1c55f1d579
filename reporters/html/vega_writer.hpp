// The charts of a result as one Vega-Lite 6 specification, below each other: for the Vega editor, vl2svg, Altair.
//
// Errors   none: a result without anything to draw is a specification without views.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_vega(const model::RunReport& report);

}  // namespace memsweep::reporters
