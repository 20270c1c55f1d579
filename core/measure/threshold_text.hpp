// A threshold as people write it: "5%", "2%,1MiB", "0%,64".
//
// Grammar  PERCENT "%" ["," AMOUNT]; the percentage is a decimal number without a sign, the amount is in the metric's
//          unit: a size, a duration, a rate, or a plain number for counts.
// Errors   invalid_input: what does not parse, and what would.
#pragma once

#include <string_view>

#include "core/base/expected.hpp"
#include "core/measure/thresholds.hpp"

namespace memsweep::measure {

[[nodiscard]] base::Expected<Threshold> parse_threshold(std::string_view text, model::Unit unit);

}  // namespace memsweep::measure
