// What removing call sites returns, in JSON.
#pragma once

#include <optional>

#include "core/measure/site_return.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// Puts `returns`, and everything else that is known about it, into an object; absent: nothing is offered.
void put_return(const std::optional<measure::SiteReturn>& result, Json& object);

[[nodiscard]] Json check_of_replay(const measure::ReplayCheck& check);

}  // namespace memsweep::reporters
