// The values of one axis: a list or a range in the file, or the command line's text.
//
// Errors   into Diagnostics. Values become case ids and table cells, so they are short, printable and differ as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/scalar.hpp"
#include "scenarios/reader/fields.hpp"

namespace memsweep::scenarios {

using AxisValues = std::optional<std::vector<model::Scalar>>;

[[nodiscard]] AxisValues read_axis_values(const Node& node, const Reading& reading);
[[nodiscard]] AxisValues read_axis_text(const std::string& text, const Place& flag, const Reading& reading);

// {"from","to","factor"}, {"from","to","step"}, [4KiB:1GiB:*4], [1:10:+1]: integers, or sizes when `from`, `to` or `by`
// carries a unit; sizes come out as their shortest exact text. Errors: an end or step that is neither, a range that is
// empty, endless or longer than max_axis_values.
struct AxisRange {
    model::Scalar from;
    model::Scalar to;
    model::Scalar by;
    bool multiply{};  // by is a factor; else a step
};

[[nodiscard]] base::Expected<std::vector<model::Scalar>> range_values(const AxisRange& range);

// What follows "NAME=". Items are JSON scalars where they are ones, else text.
[[nodiscard]] base::Expected<std::vector<model::Scalar>> parse_axis_values(std::string_view text);

// "NAME=VALUE" of -a and --set, split at the first '='.
[[nodiscard]] base::Expected<std::pair<std::string, std::string>> split_assignment(std::string_view text);

}  // namespace memsweep::scenarios
