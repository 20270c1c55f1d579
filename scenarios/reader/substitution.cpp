#include "scenarios/reader/substitution.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

using Substituted = base::Expected<model::Scalar>;

Substituted known(const std::optional<model::Scalar>& value)
{
    return value ? Substituted{*value} : invalid({});
}

struct ReservedWord {
    std::string_view name;
    std::uint64_t Surroundings::*value;
};
constexpr std::array<ReservedWord, 5> reserved{{{"ncpus", &Surroundings::ncpus},
                                                {"page_size", &Surroundings::page_size_bytes},
                                                {"memory", &Surroundings::memory_bytes},
                                                {"numa_nodes", &Surroundings::numa_nodes},
                                                {"devices", &Surroundings::devices}}};

bool is_environment_name(std::string_view name)
{
    constexpr std::string_view inner = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return !name.empty() && name.find_first_not_of(inner) == std::string_view::npos && (name[0] < '0' || name[0] > '9');
}

// `body` is NAME or NAME:-default; as in a shell, the default also stands for an empty value.
base::Expected<std::string> environment_text(std::string_view body, const Surroundings& surroundings)
{
    const std::size_t dash = body.find(":-");
    const std::string name{body.substr(0, dash)};
    if (!is_environment_name(name)) {
        return invalid(fmt::format("{} is not the name of an environment variable", in_quotes(name)));
    }
    std::string value = surroundings.environment(name).value_or("");
    if (value.empty()) {
        return dash == std::string_view::npos
                   ? base::Expected<std::string>{invalid(fmt::format(
                         "environment variable {} is not set; give a default: ${{env:{}:-VALUE}}", name, name))}
                   : std::string{body.substr(dash + 2)};
    }
    if (value.size() > max_text_bytes || find_bad_byte(value)) {
        return invalid(fmt::format("environment variable {} is too long or not plain UTF-8 text", name));
    }
    return value;
}

Substituted axis_value(std::string_view name, const Scope& scope)
{
    if (scope.axes == nullptr) {
        return invalid(fmt::format(
            "${{axis.{}}} differs between cases; it can stand in memory, release, steps and command only", name));
    }
    if (const model::Scalar* value = model::find_value(*scope.axes, name)) {
        return *value;
    }
    if (scope.broken_axes != nullptr &&
        std::find(scope.broken_axes->begin(), scope.broken_axes->end(), name) != scope.broken_axes->end()) {
        return invalid({});
    }
    return invalid(fmt::format("unknown axis {}{}", in_quotes(name),
                               base::suggestion(name, names_of(*scope.axes, &model::Param::name))));
}

Substituted unknown_name(std::string_view name, const Scope& scope)
{
    if (!is_name(name)) {
        return invalid(
            fmt::format("{} is not a placeholder: write ${{NAME}}, ${{axis.NAME}} or ${{env:NAME:-default}}; "
                        "there is no arithmetic",
                        in_quotes(fmt::format("${{{}}}", name))));
    }
    std::vector<std::string_view> names = reserved_words();
    if (scope.variables == nullptr) {
        return invalid(
            fmt::format("unknown name {} here: a variable may refer to ${{env:...}} and reserved words only{}",
                        in_quotes(name), base::suggestion(name, names)));
    }
    for (const auto& [variable, value] : *scope.variables) {
        names.push_back(variable);
    }
    if (scope.axes != nullptr && model::find_value(*scope.axes, name) != nullptr) {
        return invalid(
            fmt::format("unknown variable {}; the axis of that name is ${{axis.{}}}", in_quotes(name), name));
    }
    return invalid(fmt::format("unknown variable {}{}", in_quotes(name), base::suggestion(name, names)));
}

Substituted named_value(std::string_view name, const Scope& scope)
{
    if (const auto* const word = std::ranges::find(reserved, name, &ReservedWord::name); word != reserved.end()) {
        return model::Scalar{static_cast<std::int64_t>(scope.surroundings.*(word->value))};
    }
    if (name.starts_with("axis.")) {
        return axis_value(name.substr(5), scope);
    }
    if (scope.variables != nullptr) {
        if (const auto variable = scope.variables->find(name); variable != scope.variables->end()) {
            return known(variable->second);
        }
    }
    return unknown_name(name, scope);
}

// `body` is what stands between "${" and "}". `whole`: the placeholder is all of its string, so that an environment
// value may be more than text.
Substituted placeholder_value(std::string_view body, bool whole, const Scope& scope)
{
    if (!body.starts_with("env:")) {
        return named_value(body, scope);
    }
    std::string text = MEMSWEEP_TRY(environment_text(body.substr(4), scope.surroundings));
    return whole ? scalar_of_text(text) : model::Scalar{std::move(text)};
}

Substituted substitute_parts(std::string_view text, const Scope& scope)
{
    std::string out;
    while (true) {
        const std::size_t begin = text.find("${");
        out += text.substr(0, begin);
        if (out.size() > max_text_bytes) {
            return invalid(fmt::format("longer than {} bytes after substitution", max_text_bytes));
        }
        if (begin == std::string_view::npos) {
            return model::Scalar{std::move(out)};
        }
        const std::size_t end = text.find('}', begin);
        if (end == std::string_view::npos) {
            return invalid(fmt::format("{} lacks its closing brace", in_quotes(text.substr(begin))));
        }
        const bool whole = out.empty() && begin == 0 && end + 1 == text.size();
        auto value = MEMSWEEP_TRY(placeholder_value(text.substr(begin + 2, end - begin - 2), whole, scope));
        if (whole) {
            return value;
        }
        out += model::to_text(value);
        text.remove_prefix(end + 1);
    }
}

// Where the value of a text's first placeholder was set.
Place place_of(const SourceNode& node, std::string_view text, const Scope& scope)
{
    constexpr std::string_view of_axis = "axis.";
    const std::size_t begin = text.find("${") + 2;
    std::string_view name = text.substr(begin, text.find('}', begin) - begin);
    const Flags* const flags = name.starts_with(of_axis) ? scope.axis_flags : scope.variable_flags;
    name.remove_prefix(name.starts_with(of_axis) ? of_axis.size() : 0);
    const auto flag = flags == nullptr ? Flags::const_iterator{} : flags->find(name);
    return flags == nullptr || flag == flags->end() ? node.place : flag->second;
}

}  // namespace

tl::unexpected<base::Error> invalid(std::string message)
{
    return base::fail(base::ErrorCode::invalid_input, std::move(message));
}

bool has_placeholder(std::string_view text)
{
    return text.find("${") != std::string_view::npos;
}

Substituted substitute(std::string_view text, const Scope& scope)
{
    if (text.size() > max_text_bytes) {
        return invalid(fmt::format("a string longer than {} bytes", max_text_bytes));
    }
    return substitute_parts(text, scope);
}

const SourceNode* resolve(const SourceNode& node, SourceNode& storage, const Scope& scope, Diagnostics& diagnostics)
{
    const auto* text = node.as<std::string>();
    if (text == nullptr || (text->size() <= max_text_bytes && !has_placeholder(*text))) {
        return &node;
    }
    auto value = substitute(*text, scope);
    if (!value) {
        if (!value.error().message.empty()) {
            diagnostics.add(node.place, std::move(value.error().message));
        }
        return nullptr;
    }
    storage.place = place_of(node, *text, scope);
    std::visit([&](auto& scalar) { storage.value = std::move(scalar); }, *value);
    return &storage;
}

std::vector<std::string_view> reserved_words()
{
    return names_of(reserved, &ReservedWord::name);
}

model::Scalar scalar_of_text(std::string_view text)
{
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::string as_text{text};
    if (text.size() > max_text_bytes || text.starts_with('[') || text.starts_with('{')) {
        return as_text;
    }
    const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (json.is_boolean()) {
        return json.get<bool>();
    }
    if (json.is_number_integer()) {  // also true of unsigned ones, whose upper half get<int64_t> would turn negative
        const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > largest;
        return too_large ? model::Scalar{as_text} : model::Scalar{json.get<std::int64_t>()};
    }
    if (json.is_number_float() && text.find_first_of(".eE") != std::string_view::npos) {
        return json.get<double>();
    }
    return json.is_string() ? model::Scalar{json.get<std::string>()} : model::Scalar{as_text};
}

}  // namespace memsweep::scenarios
