// The memory that the removal of call sites would save, as JSON.
#pragma once

#include <optional>

#include "core/measure/site_return.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// Puts two numbers of bytes into the object: `returns` and `returns_after_request`. Also puts the error of each number
// (`error`, `error_after_request`). A number that is too uncertain to be reported is null; then `not_told` or
// `not_told_after_request` has the reason. If `result` is absent, all six members are null.
void put_return(const std::optional<measure::SiteReturn>& result, Json& object);

[[nodiscard]] Json check_of_replay(const measure::ReplayCheck& check);

}  // namespace memsweep::reporters
