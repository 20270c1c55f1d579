// Keeps the cases whose id matches --filter.
//
// Sources  POSIX extended regular expressions, matched anywhere in the id.
// Errors   invalid_input: not a regular expression.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::model {
struct Plan;
}

namespace memsweep::app {

using IdMatcher = std::function<bool(const std::string& id)>;
[[nodiscard]] base::Expected<IdMatcher> id_matcher(const std::string& expression);

[[nodiscard]] base::Expected<void> keep_matching(std::vector<model::Plan>& plans, const std::string& expression);

}  // namespace memsweep::app
