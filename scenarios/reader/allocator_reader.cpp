#include "scenarios/reader/allocator_reader.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/suggest.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/quote.hpp"

namespace memsweep::scenarios {
namespace {

const model::Scalar* value_of_axis(const std::vector<model::Param>& params)
{
    const auto found = std::ranges::find(params, allocator_axis, &model::Param::name);
    return found == params.end() ? nullptr : &found->value;
}

std::string written(std::uint64_t value, SettingForm form)
{
    constexpr std::uint64_t ns_per_ms = 1'000'000;
    switch (form) {
    case SettingForm::milliseconds:
        return std::to_string(value / ns_per_ms);
    case SettingForm::mebibytes:
        return std::to_string(value >> 20U);
    case SettingForm::plain:
    case SettingForm::word:
    case SettingForm::digit:
        break;
    }
    return std::to_string(value);
}

std::string written(bool value, SettingForm form)
{
    const bool as_digit = form == SettingForm::digit;
    return value ? (as_digit ? "1" : "true") : (as_digit ? "0" : "false");
}

// Empty when the key is absent, or its value was reported.
std::optional<std::string> setting_text(const Fields& fields, const OptionInfo& option, SettingForm form)
{
    const auto value = fields.value(option);
    if (!value) {
        return std::nullopt;
    }
    if (const auto* flag = std::get_if<bool>(&*value)) {
        return written(*flag, form);
    }
    const auto* number = std::get_if<std::uint64_t>(&*value);
    return number != nullptr ? written(*number, form) : std::get<std::string>(*value);
}

model::Variables read_settings_of(const std::string& allocator, const Node& node, const Reading& reading)
{
    Fields fields{node, fmt::format("\"{}\"", allocator), reading};
    const auto options = allocator_options(allocator);
    fields.check(options);
    const SettingStyle style = setting_style(allocator);
    model::Variables variables;
    std::string joined;
    const auto targets = setting_targets(allocator);
    for (std::size_t i = 0; i < options.size(); ++i) {
        const SettingTarget& setting = targets[i];
        const auto text = setting_text(fields, options[i], setting.form);
        if (text && style.variable.empty()) {
            variables.emplace_back(setting.name, *text);
        } else if (text) {
            joined += fmt::format("{}{}{}{}", joined.empty() ? "" : std::string(1, style.separator), setting.name,
                                  style.assign, *text);
        }
    }
    if (!joined.empty()) {
        variables.emplace_back(style.variable, joined);
    }
    return variables;
}

}  // namespace

std::string allocator_mistake(std::string_view name)
{
    if (model::find_allocator(name) != nullptr || model::is_library_path(name)) {
        return {};
    }
    const auto known = model::allocator_names();
    return fmt::format("{} is no allocator: one of {}, or the absolute path of a library{}", in_quotes(name),
                       fmt::join(known, ", "), base::suggestion(name, known));
}

void check_allocators(const Node* node, const std::vector<model::Axis>& axes, const Reading& reading)
{
    if (node != nullptr && std::ranges::find(axes, allocator_axis, &model::Axis::name) == axes.end()) {
        reading.diagnostics.add(node->place, "\"allocators\" has settings for the axis \"allocator\", which this "
                                             "scenario does not have");
    }
}

model::AllocatorSpec read_allocator(const Node* node, const std::vector<model::Param>& params, const Reading& reading)
{
    model::AllocatorSpec spec;
    if (const model::Scalar* value = value_of_axis(params)) {
        spec.name = model::to_text(*value);
    }
    if (node == nullptr) {
        return spec;
    }
    Fields fields{*node, "\"allocators\"", reading};
    fields.check(allocators_options());
    for (const std::string_view name : model::allocator_names()) {
        if (const Node* settings = fields.raw(name)) {
            model::Variables variables = read_settings_of(std::string{name}, *settings, reading);
            if (spec.name == name) {
                spec.environment = std::move(variables);
            }
        }
    }
    return spec;
}

}  // namespace memsweep::scenarios
