// What one placeholder stands for.
//
// Errors   invalid_input, as substitution.hpp says; without a message when the value was reported as broken before.
#pragma once

#include <string_view>

#include "scenarios/substitution.hpp"

namespace memsweep::scenarios {

// `body` is what stands between "${" and "}". `whole`: the placeholder is all of its string, so that an environment
// value may be more than text.
[[nodiscard]] base::Expected<model::Scalar> placeholder_value(std::string_view body, bool whole, const Scope& scope);

}  // namespace memsweep::scenarios
