// The axes of a scenario, the command line's changes to them, and patterns of axis values (exclude, where).
//
// Errors   into Diagnostics, at the axis, the value or the flag.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/scalar.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/settings.hpp"

namespace memsweep::scenarios {

inline constexpr std::string_view allocator_axis = "allocator";  // reserved, as model::placement_axis

struct Axes {
    std::vector<model::Axis> declared;                                 // as the file says
    std::vector<model::Axis> used;                                     // after the command line
    std::vector<std::string> broken;                                   // reported; neither declared nor used
    std::map<std::string, std::set<std::string>, std::less<>> values;  // declared and used ones, as text, by axis
    Flags flags;                                                       // set on the command line, by axis
};

// `node` may be null: a scenario with a single case.
[[nodiscard]] Axes read_axes(const SourceNode* node, const Assignments& overrides, Sources& sources,
                             const Reading& reading);

// Reads {"mode": "pool", "size": "4KiB"}. Every name must be an axis, and every value one of the axis's, from the file
// or the command line. So an override does not break a pattern about a value that it left out.
[[nodiscard]] std::vector<model::Param> read_pattern(const SourceNode& node, std::string what, const Axes& axes,
                                                     const Reading& reading);

[[nodiscard]] std::vector<std::string_view> axis_names(const Axes& axes);

// Why no case can have this value; no message if one can, or if the axis itself is broken.
struct AxisMismatch {
    std::string message;
    bool is_name{};  // the name is wrong, not the value
};
[[nodiscard]] AxisMismatch find_mismatch(const Axes& axes, std::string_view name, std::string_view value);

// The values of one axis: a list or a range in the file, or the command line's text. They become case ids and table
// cells, so they are short, printable and differ as text.
using AxisValues = std::optional<std::vector<model::Scalar>>;

[[nodiscard]] AxisValues read_axis_values(const SourceNode& node, const Reading& reading);
[[nodiscard]] AxisValues read_axis_text(const std::string& text, const Place& flag, const Reading& reading);

// Parses the text after "NAME=". An item that is a JSON scalar is read as one, any other as text.
[[nodiscard]] base::Expected<std::vector<model::Scalar>> parse_axis_values(std::string_view text);

}  // namespace memsweep::scenarios
