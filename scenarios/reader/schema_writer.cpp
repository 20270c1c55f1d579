// The JSON Schema of scenarios, written from the option tables.
//
// What a row's kind says is written alike for every key. What JSON Schema can say and a kind cannot (maps whose keys
// the user chooses, texts that are not empty, either of two keys) is listed here, by section and key.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/model/step.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/schema.hpp"
#include "scenarios/reader/substitution.hpp"

namespace memsweep::scenarios {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view name_pattern = "^[a-z][a-z0-9_]{0,63}$";

// What values are made of, whatever key they stand at.
constexpr std::string_view basic_definitions = R"json({
  "device_name": {"anyOf": [{"type": "string", "pattern": "^gpu[0-9]{1,4}$"}, {"$ref": "#/definitions/placeholder"}], "description": "One device, as transfers name it."},
  "placeholder": {"type": "string", "pattern": "\\$\\{[^{}]+\\}", "description": "Holds ${NAME}, ${axis.NAME}, ${env:NAME:-default} or a reserved word."},
  "name_or_placeholder": {"anyOf": [{"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}, {"$ref": "#/definitions/placeholder"}]},
  "size": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(B|KiB|MiB|GiB|TiB|kB|MB|GB|TB)?$"}, {"$ref": "#/definitions/placeholder"}]},
  "duration": {"anyOf": [{"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$"}, {"$ref": "#/definitions/placeholder"}]},
  "scalar": {"type": ["string", "number", "boolean"]},
  "axis_value": {"anyOf": [{"type": "string", "minLength": 1}, {"type": ["number", "boolean"]}]},
  "axis": {"anyOf": [{"type": "array", "minItems": 1, "maxItems": 10000, "uniqueItems": true, "items": {"$ref": "#/definitions/axis_value"}}, {"$ref": "#/definitions/axis_range"}]},
  "pattern": {"type": "object", "description": "Axis names and values.", "patternProperties": {"^x-": {}, "^[a-z][a-z0-9_]{0,63}$": {"$ref": "#/definitions/axis_value"}}, "additionalProperties": false},
  "steps": {"type": "array", "minItems": 1, "items": {"$ref": "#/definitions/step"}}
})json";

ordered_json definition(std::string_view name)
{
    return {{"$ref", fmt::format("#/definitions/{}", name)}};
}

ordered_json or_placeholder(ordered_json schema)
{
    return {{"anyOf", ordered_json::array({std::move(schema), definition("placeholder")})}};
}

// What a definition says, with room for a description of its own beside it.
ordered_json as_defined(std::string_view name)
{
    return {{"allOf", ordered_json::array({definition(name)})}};
}

ordered_json one_of(const OptionInfo& row)
{
    return or_placeholder({{"enum", row.choices()}});
}

ordered_json bounded(std::string_view type, const OptionInfo& row)
{
    ordered_json schema{{"type", type}, {"minimum", row.min}};
    if (row.max != any_integer) {
        schema["maximum"] = row.max;
    }
    return or_placeholder(std::move(schema));
}

ordered_json extents(const OptionInfo& row)
{
    ordered_json extent{{"type", "integer"}, {"minimum", row.min}};
    if (row.max < any_size) {
        extent["maximum"] = row.max;
    }
    return {
        {"type", "array"}, {"items", or_placeholder(std::move(extent))}, {"minItems", 1}, {"maxItems", max_shape_rank}};
}

// What every value of a kind is.
ordered_json kind_schema(const OptionInfo& row)
{
    switch (row.kind) {
    case OptionKind::size:
        return as_defined("size");
    case OptionKind::duration:
        return as_defined("duration");
    case OptionKind::integer:
        return bounded("integer", row);
    case OptionKind::number:
        return bounded("number", row);
    case OptionKind::boolean:
        return or_placeholder({{"type", "boolean"}});
    case OptionKind::choice:
        return one_of(row);
    case OptionKind::choices:
        return {{"type", "array"}, {"minItems", 1}, {"items", one_of(row)}};
    case OptionKind::name:
        return as_defined("name_or_placeholder");
    case OptionKind::text:
        return {{"type", "string"}};
    case OptionKind::texts: {
        const ordered_json text{{"type", "string"}, {"minLength", 1}};
        return {{"anyOf", ordered_json::array({text, {{"type", "array"}, {"items", text}}})}};
    }
    case OptionKind::device:
        return row.nullable
                   ? ordered_json{{"anyOf", ordered_json::array({{{"type", "null"}}, definition("device_name")})}}
                   : as_defined("device_name");
    case OptionKind::shape:
        return extents(row);
    case OptionKind::object:
        return {{"type", "object"}};
    case OptionKind::list:
        return {{"type", "array"}};
    }
    return {};
}

// As JSON where it is any: "256MiB" and the name of a choice are texts.
ordered_json default_json(const OptionInfo& row)
{
    if (row.kind == OptionKind::choices) {
        return row.choices();  // all of them
    }
    auto value = ordered_json::parse(row.default_text, nullptr, false);
    return row.kind == OptionKind::choice || row.kind == OptionKind::text || value.is_discarded()
               ? ordered_json(row.default_text)
               : value;
}

std::string sentence(std::string_view help)
{
    std::string text{help};
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text + ".";
}

// Keys of a map whose names the user chooses.
ordered_json named_members(ordered_json value)
{
    return {{"type", "object"},
            {"patternProperties", {{"^x-", ordered_json::object()}, {name_pattern, std::move(value)}}},
            {"additionalProperties", false}};
}

ordered_json not_empty_text()
{
    return {{"type", "string"}, {"minLength", 1}};
}

ordered_json text_members()
{
    return {{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
}

ordered_json axes_schema()
{
    const ordered_json placements{{"enum", model::all_names<model::Placement>()}};
    ordered_json schema = named_members(definition("axis"));
    schema["properties"]["placement"] = {{"type", "array"},
                                         {"items", or_placeholder(placements)},
                                         {"description", "Reserved: which cases share a worker process."}};
    return schema;
}

ordered_json variables_schema()
{
    ordered_json schema = named_members(definition("scalar"));
    for (const std::string_view word : reserved_words()) {
        schema["not"]["anyOf"].push_back({{"required", ordered_json::array({word})}});
    }
    return schema;
}

ordered_json ranks_schema(const OptionInfo& row)
{
    ordered_json schema = kind_schema(row);
    schema["anyOf"].push_back({{"type", "string"}, {"pattern", "^[1-9][0-9]*\\+$"}});
    return schema;
}

ordered_json object_schema(std::string_view section);

ordered_json allocators_schema()
{
    ordered_json schema = object_schema("allocators");
    for (auto& [allocator, property] : schema["properties"].items()) {
        property.update(object_schema(fmt::format("allocators: {}", allocator)));
    }
    return schema;
}

ordered_json list_of(ordered_json items, std::size_t max)
{
    return {{"type", "array"}, {"maxItems", max}, {"items", std::move(items)}};
}

ordered_json constant(ordered_json value)
{
    return {{"const", std::move(value)}};
}

ordered_json pattern_not_empty()
{
    return {{"allOf", ordered_json::array({definition("pattern"), {{"minProperties", 1}}})}};
}

// What a key's kind does not say, by section and key.
struct Special {
    std::string_view section;
    std::string_view key;
    ordered_json (*schema)(const OptionInfo& row);
};

ordered_json special_schema(std::string_view section, const OptionInfo& row)
{
    using Row = const OptionInfo&;
    static constexpr std::array specials{
        Special{"scenario", "format", [](Row) { return constant("memsweep-scenario"); }},
        Special{"scenario", "version", [](Row) { return constant(1); }},
        Special{"scenario", "name",
                [](Row) {
                    return ordered_json{{"type", "string"}, {"pattern", name_pattern}};
                }},
        Special{"scenario", "variables", [](Row) { return variables_schema(); }},
        Special{"scenario", "requires", [](Row) { return object_schema("requires"); }},
        Special{"scenario", "ranks", ranks_schema},
        Special{"scenario", "axes", [](Row) { return axes_schema(); }},
        Special{"scenario", "exclude", [](Row) { return list_of(pattern_not_empty(), max_exclusions); }},
        Special{"scenario", "memory", [](Row) { return object_schema("memory"); }},
        Special{"scenario", "release", [](Row) { return object_schema("release"); }},
        Special{"scenario", "safety", [](Row) { return object_schema("safety"); }},
        Special{"scenario", "allocators", [](Row) { return allocators_schema(); }},
        Special{"scenario", "command", [](Row) { return object_schema("command"); }},
        Special{"scenario", "assert", [](Row) { return list_of(object_schema("assert"), max_asserts); }},
        Special{"", "steps", [](Row) { return as_defined("steps"); }},
        Special{"", "series", [](Row) { return as_defined("series"); }},
        Special{"memory", "numa", [](Row) { return object_schema("numa"); }},
        Special{"memory", "pool", [](Row) { return object_schema("pool"); }},
        Special{"memory", "trim", [](Row) { return object_schema("memory.trim"); }},
        Special{"profile", "format", [](Row) { return constant("memsweep-profile"); }},
        Special{"profile", "version", [](Row) { return constant(1); }},
        Special{"profile", "release",
                [](Row) {
                    ordered_json schema;
                    schema["allOf"].push_back({{"$ref", "#/properties/release"}});
                    return schema;
                }},
        Special{"command", "env", [](Row) { return text_members(); }},
        Special{"command", "stdout",
                [](Row) {
                    return ordered_json{{"anyOf", ordered_json::array({{{"type", "null"}}, not_empty_text()})}};
                }},
        Special{"assert", "where", [](Row) { return as_defined("pattern"); }},
        Special{"assert", "expr", [](Row) { return not_empty_text(); }},
        Special{"step: replay", "trace", [](Row) { return not_empty_text(); }},
        Special{"step: transfer", "transfers",
                [](Row) {
                    ordered_json schema = list_of(definition("transfer"), model::max_transfers_at_once);
                    schema["minItems"] = 1;
                    return schema;
                }},
        Special{"transfer", "src", [](Row) { return not_empty_text(); }},
        Special{"transfer", "exe", [](Row) { return not_empty_text(); }},
        Special{"transfer", "dst", [](Row) { return not_empty_text(); }},
    };
    for (const Special& special : specials) {
        if (special.key == row.name && (special.section.empty() || special.section == section)) {
            return special.schema(row);
        }
    }
    return kind_schema(row);
}

// How the keys of an object exclude or need each other.
void add_choice_of_keys(std::string_view section, ordered_json& schema)
{
    const auto needs = [](std::string_view key) { return ordered_json{{"required", ordered_json::array({key})}}; };
    if (section == "scenario") {
        schema["oneOf"] = {needs("steps"), needs("command")};
    }
    if (section == "axes: range") {
        schema["oneOf"] = {needs("factor"), needs("step")};
    }
    if (section == "step: alloc") {
        ordered_json bytes = needs("bytes");
        bytes["not"] = needs("dtype");
        schema["oneOf"] = {needs("shape"), std::move(bytes)};
    }
}

ordered_json object_schema(std::string_view section, std::span<const OptionInfo> options)
{
    ordered_json schema{{"type", "object"}, {"properties", ordered_json::object()}};
    ordered_json required = ordered_json::array();
    for (const OptionInfo& row : options) {
        ordered_json property = special_schema(section, row);
        property["description"] = sentence(row.help);
        if (!row.default_text.empty()) {
            property["default"] = default_json(row);
        }
        schema["properties"][std::string{row.name}] = std::move(property);
        if (row.required) {
            required.push_back(row.name);
        }
    }
    if (!required.empty()) {
        schema["required"] = std::move(required);
    }
    schema["patternProperties"] = {{"^x-", ordered_json::object()}};
    schema["additionalProperties"] = false;
    add_choice_of_keys(section, schema);
    return schema;
}

ordered_json object_schema(std::string_view section)
{
    static const std::vector<OptionSection> sections = option_sections();
    const auto found = std::ranges::find(sections, section, &OptionSection::name);
    ordered_json schema = object_schema(section, found->options);
    schema["description"] = sentence(found->meaning);
    return schema;
}

// An operation's own keys, and those that every step may carry.
ordered_json step_schema(const model::OperationInfo& operation)
{
    const OptionInfo& op = step_table().options().front();
    std::vector<OptionInfo> keys{op};
    const auto own = operation_options(operation.name);
    keys.insert(keys.end(), own.begin(), own.end());
    const auto shared = step_table().options().subspan(1);
    keys.insert(keys.end(), shared.begin(), shared.end());
    ordered_json schema = object_schema(fmt::format("step: {}", operation.name), keys);
    schema["properties"]["op"] = {{"const", operation.name}, {"description", sentence(operation.meaning)}};
    schema["description"] = sentence(operation.meaning);
    return schema;
}

std::string definition_name(const model::OperationInfo& operation)
{
    return fmt::format("step_{}", operation.name);
}

// Its "op" decides what else a step may hold. A choice among all operations would say of a wrong key only that no
// operation takes the step; this says which key is wrong.
ordered_json any_step_schema()
{
    ordered_json op{{"enum", ordered_json::array()},
                    {"enumDescriptions", ordered_json::array()},
                    {"description", sentence(step_table().options().front().help)}};
    ordered_json conditions = ordered_json::array();
    for (const model::OperationInfo& operation : model::operations()) {
        op["enum"].push_back(operation.name);
        op["enumDescriptions"].push_back(sentence(operation.meaning));
        const ordered_json is_this{{"properties", {{"op", constant(operation.name)}}},
                                   {"required", ordered_json::array({"op"})}};
        conditions.push_back({{"if", is_this}, {"then", definition(definition_name(operation))}});
    }
    return {{"type", "object"},
            {"required", ordered_json::array({"op"})},
            {"properties", {{"op", std::move(op)}}},
            {"allOf", std::move(conditions)}};
}

ordered_json definitions()
{
    ordered_json all = ordered_json::parse(basic_definitions);
    all["settings_file"] = object_schema("settings");
    all["profile_file"] = object_schema("profile");
    all["axis_range"] = object_schema("axes: range");
    all["series"] = object_schema("series");
    all["transfer"] = object_schema("transfer");
    all["step"] = any_step_schema();
    for (const model::OperationInfo& operation : model::operations()) {
        all[definition_name(operation)] = step_schema(operation);
    }
    return all;
}

}  // namespace

std::string object_schema_text(std::string_view section, std::span<const OptionInfo> options)
{
    return object_schema(section, options).dump(2);
}

std::string_view scenario_schema()
{
    static const std::string text = [] {
        ordered_json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                            {"$id", "memsweep-scenario-1.schema.json"},
                            {"title", "memsweep scenario, version 1"},
                            {"description",
                             "What memsweep runs: cases made from axes, each a list of steps. docs/scenario-format.md "
                             "explains every key."}};
        ordered_json top = object_schema("scenario");
        top.erase("description");
        schema.update(top);
        schema["definitions"] = definitions();
        return schema.dump(2) + "\n";
    }();
    return text;
}

}  // namespace memsweep::scenarios
