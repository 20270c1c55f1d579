// The values of one axis: a list or a range in the file, or the command line's text.
//
// Errors   into Diagnostics. Values become case ids and table cells, so they are short, printable and differ as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/fields.hpp"

namespace memsweep::scenarios {

using AxisValues = std::optional<std::vector<model::Scalar>>;

[[nodiscard]] AxisValues read_axis_values(const Node& node, const Reading& reading);
[[nodiscard]] AxisValues read_axis_text(const std::string& text, const Place& flag, const Reading& reading);

}  // namespace memsweep::scenarios
