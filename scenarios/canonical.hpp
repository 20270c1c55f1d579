// The canonical JSON of what a plan measures: keys sorted, every default written out, numbers instead of unit strings.
#pragma once

#include <nlohmann/json.hpp>

#include "core/model/plan.hpp"

namespace memsweep::scenarios {

[[nodiscard]] nlohmann::json canonical_case(const model::Case& plan_case);
[[nodiscard]] nlohmann::json canonical_assertion(const model::Assertion& assertion);

}  // namespace memsweep::scenarios
