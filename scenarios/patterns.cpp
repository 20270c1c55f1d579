// Patterns of axis values: the entries of "exclude", the "where" of an assertion, the sides of a ratio.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "scenarios/axes.hpp"
#include "scenarios/quote.hpp"
#include "scenarios/values.hpp"

namespace memsweep::scenarios {
namespace {

void read_entry(const Member& member, const Axes& axes, const Reading& reading, std::vector<model::Param>& pattern)
{
    auto value = read_scalar(member.value, "an axis value", reading);
    if (!value) {
        return;
    }
    const AxisMismatch mismatch = find_mismatch(axes, member.key, model::to_text(*value));
    if (!mismatch.message.empty()) {
        reading.diagnostics.add(mismatch.is_name ? member.key_place : member.value.place, mismatch.message);
        return;
    }
    pattern.push_back({member.key, std::move(*value)});
}

}  // namespace

AxisMismatch find_mismatch(const Axes& axes, std::string_view name, std::string_view value)
{
    if (std::find(axes.broken.begin(), axes.broken.end(), name) != axes.broken.end()) {
        return {};
    }
    const auto axis = axes.values.find(name);
    if (axis == axes.values.end()) {
        return {fmt::format("unknown axis {}{}", in_quotes(name), did_you_mean(name, axis_names(axes))), true};
    }
    if (axis->second.contains(std::string{value})) {
        return {};
    }
    const std::vector<std::string_view> known(axis->second.begin(), axis->second.end());
    return {fmt::format("axis \"{}\" has no value {}{}", name, in_quotes(value), did_you_mean(value, known)), false};
}

std::vector<model::Param> read_pattern(const Node& node, std::string what, const Axes& axes, const Reading& reading)
{
    std::vector<model::Param> pattern;
    const Fields fields{node, std::move(what), reading};
    fields.each([&](const Member& member) { read_entry(member, axes, reading, pattern); });
    return pattern;
}

}  // namespace memsweep::scenarios
