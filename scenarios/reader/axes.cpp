#include "scenarios/reader/axes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/model/allocator.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

bool is_broken(const Axes& axes, std::string_view name)
{
    return std::find(axes.broken.begin(), axes.broken.end(), name) != axes.broken.end();
}

bool check_axis_name(const Member& member, const Reading& reading)
{
    if (is_name(member.key)) {
        return true;
    }
    reading.diagnostics.add(member.key_place,
                            fmt::format("{} is no name for an axis: a lower-case letter, then letters, digits "
                                        "and _, at most {}",
                                        in_quotes(member.key), max_name_bytes));
    return false;
}

// Why no worker can run under an allocator of this name; empty when one can, if its library is there.
std::string allocator_mistake(std::string_view name)
{
    if (model::find_allocator(name) != nullptr || model::is_library_path(name)) {
        return {};
    }
    const auto known = model::allocator_names();
    return fmt::format("{} is no allocator, nor the absolute path of a library{}", in_quotes(name),
                       base::suggestion(name, known));
}

std::string placement_mistake(const std::string& text)
{
    if (model::value_of<model::Placement>(text)) {
        return {};
    }
    return fmt::format("axis \"{}\" cannot be {}{}", model::placement_axis, in_quotes(text),
                       base::suggestion(text, model::all_names<model::Placement>()));
}

// The values of the reserved axes are the tool's words; those of allocator may also be paths.
AxisValues checked(std::string_view axis, AxisValues values, const Place& place, const Reading& reading)
{
    if (!values || (axis != allocator_axis && axis != model::placement_axis)) {
        return values;
    }
    bool known = true;
    for (const model::Scalar& value : *values) {
        const std::string text = model::to_text(value);
        if (std::string wrong = axis == allocator_axis ? allocator_mistake(text) : placement_mistake(text);
            !wrong.empty()) {
            reading.diagnostics.add(place, std::move(wrong));
            known = false;
        }
    }
    return known ? std::move(values) : std::nullopt;
}

void read_axis(const Member& member, const Reading& reading, Axes& axes)
{
    const bool named = check_axis_name(member, reading);
    auto values = checked(member.key, read_axis_values(member.value, reading), member.value.place, reading);
    if (axes.declared.size() == max_axes) {
        reading.diagnostics.add(member.key_place, fmt::format("more than {} axes", max_axes));
        values.reset();
    }
    if (named && values) {
        axes.declared.push_back({member.key, std::move(*values)});
    } else {
        axes.broken.push_back(member.key);
    }
}

std::string unknown_axis(const Axes& axes, std::string_view name)
{
    const auto known = axis_names(axes);
    return known.empty()
               ? std::string{"the scenario has no axes"}
               : fmt::format("the scenario has no axis {}; its axes: {}", in_quotes(name), fmt::join(known, ", "));
}

void apply_override(const std::pair<std::string, std::string>& assignment, Sources& sources, const Reading& reading,
                    Axes& axes)
{
    const auto& [name, text] = assignment;
    const Place flag = sources.flag(fmt::format("-a {}", printable_assignment(name, text)));
    const auto axis = std::ranges::find(axes.used, name, &model::Axis::name);
    if (axis != axes.used.end()) {
        if (auto values = checked(name, read_axis_text(text, flag, reading), flag, reading)) {
            axis->values = *std::move(values);
            axes.flags.insert_or_assign(name, flag);
        }
    } else if (!is_broken(axes, name)) {
        reading.diagnostics.add(flag, unknown_axis(axes, name));
    }
}

void remember_values(const std::vector<model::Axis>& list, Axes& axes)
{
    for (const model::Axis& axis : list) {
        auto& texts = axes.values[axis.name];
        for (const model::Scalar& value : axis.values) {
            texts.insert(model::to_text(value));
        }
    }
}

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

std::vector<std::string_view> axis_names(const Axes& axes)
{
    return names_of(axes.declared, &model::Axis::name);
}

Axes read_axes(const SourceNode* node, const Assignments& overrides, Sources& sources, const Reading& reading)
{
    Axes axes;
    if (node != nullptr) {
        const Fields fields{*node, "\"axes\"", reading};
        fields.each([&](const Member& member) { read_axis(member, reading, axes); });
    }
    axes.used = axes.declared;
    for (const auto& assignment : overrides) {
        apply_override(assignment, sources, reading, axes);
    }
    remember_values(axes.declared, axes);
    remember_values(axes.used, axes);
    return axes;
}

AxisMismatch find_mismatch(const Axes& axes, std::string_view name, std::string_view value)
{
    if (is_broken(axes, name)) {
        return {};
    }
    const auto axis = axes.values.find(name);
    if (axis == axes.values.end()) {
        return {fmt::format("unknown axis {}{}", in_quotes(name), base::suggestion(name, axis_names(axes))), true};
    }
    if (axis->second.contains(std::string{value})) {
        return {};
    }
    const std::vector<std::string_view> known(axis->second.begin(), axis->second.end());
    return {fmt::format("axis \"{}\" has no value {}{}", name, in_quotes(value), base::suggestion(value, known)),
            false};
}

std::vector<model::Param> read_pattern(const SourceNode& node, std::string what, const Axes& axes,
                                       const Reading& reading)
{
    std::vector<model::Param> pattern;
    const Fields fields{node, std::move(what), reading};
    fields.each([&](const Member& member) { read_entry(member, axes, reading, pattern); });
    return pattern;
}

}  // namespace memsweep::scenarios
