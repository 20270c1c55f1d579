// The axes of a scenario, the changes that the command line makes to them, and patterns, which are sets of axis values
// that select cases (for the keys "exclude" and "where").
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

inline constexpr std::string_view allocator_axis = "allocator";  // reserved, like model::placement_axis

struct Axes {
    std::vector<model::Axis> declared;  // as the file says
    std::vector<model::Axis> used;      // after the command line
    std::vector<std::string> broken;    // axes with mistakes that were reported; not in `declared` or `used`
    std::map<std::string, std::set<std::string>, std::less<>> values;  // texts of declared and used values, by axis
    Flags flags;  // by axis: the flag of the command line that set the axis
};

// Reads the axes. `node` may be null: then the file declares no axes.
[[nodiscard]] Axes read_axes(const SourceNode* node, const Assignments& overrides, Sources& sources,
                             const Reading& reading);

// Reads a pattern such as {"mode": "pool", "size": "4KiB"}. Every name must be an axis. Every value must be a value of
// this axis, in the file or on the command line. So a pattern stays valid if the command line leaves a value out of the
// axis.
[[nodiscard]] std::vector<model::Param> read_pattern(const SourceNode& node, std::string what, const Axes& axes,
                                                     const Reading& reading);

[[nodiscard]] std::vector<std::string_view> axis_names(const Axes& axes);

// Says why no case can have this value. The message is empty if a case can have the value, or if the axis itself has a
// mistake.
struct AxisMismatch {
    std::string message;
    bool is_name{};  // true: the name of the axis is wrong; false: the value is
};
[[nodiscard]] AxisMismatch find_mismatch(const Axes& axes, std::string_view name, std::string_view value);

// The values of one axis: a list or a range in the file, or the text on the command line. Values become case ids and
// table cells, so they must be short, printable, and different as text. nullopt: a mistake was reported.
using AxisValues = std::optional<std::vector<model::Scalar>>;

[[nodiscard]] AxisValues read_axis_values(const SourceNode& node, const Reading& reading);
[[nodiscard]] AxisValues read_axis_text(const std::string& text, const Place& flag, const Reading& reading);

// Parses the text after "NAME=". An item is read as a JSON scalar if it is one, else as text.
[[nodiscard]] base::Expected<std::vector<model::Scalar>> parse_axis_values(std::string_view text);

// Rewrites a list so that parse_axis_values() reads each value as exactly the text that was typed: 3.10 stays 3.10, and
// quotes stay. If this holds without a change, the list is returned unchanged, and its numbers stay numbers. Otherwise
// all values become texts.
[[nodiscard]] std::string verbatim_axis_text(std::string_view list);

}  // namespace memsweep::scenarios
