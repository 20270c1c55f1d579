// The command line's way to write an axis, after nvbench: size=[4KiB:1GiB:*4]  n=[1:10:+1]  mode=[pool,refcount]
// threads=4
//
// Errors   invalid_input: no name or value, an unclosed bracket, an empty list or item, a range that does not work out.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/scalar.hpp"

namespace memsweep::scenarios {

// What follows "NAME=". Items are JSON scalars where they are ones, else text.
[[nodiscard]] base::Expected<std::vector<model::Scalar>> parse_axis_values(std::string_view text);

// "NAME=VALUE" of -a and --set, split at the first '='.
[[nodiscard]] base::Expected<std::pair<std::string, std::string>> split_assignment(std::string_view text);

}  // namespace memsweep::scenarios
