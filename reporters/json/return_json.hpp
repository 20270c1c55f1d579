// How much memory removing call sites saves, in JSON.
#pragma once

#include <optional>

#include "core/measure/site_return.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// Puts `returns` and the other figures into the object, each with its error. If a figure is not reported, puts the
// reason. If `result` is absent, all of them are null.
void put_return(const std::optional<measure::SiteReturn>& result, Json& object);

[[nodiscard]] Json check_of_replay(const measure::ReplayCheck& check);

}  // namespace memsweep::reporters
