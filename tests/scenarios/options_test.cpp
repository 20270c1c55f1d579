// One truth about every key: the option tables, the JSON Schema, the model's defaults and the documentation agree.
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/schema.hpp"
#include "tests/scenarios/support.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::test {
namespace {

using nlohmann::json;
using scenarios::OptionInfo;
using scenarios::OptionKind;

const json& schema()
{
    static const json parsed = json::parse(scenarios::scenario_schema());
    return parsed;
}

// The object of the schema that a section of the tables describes.
json schema_of(const std::string& section)
{
    const json& top = schema()["properties"];
    const json& definitions = schema()["definitions"];
    if (section == "scenario") {
        return schema();
    }
    if (section == "settings") {
        return definitions["settings_file"];
    }
    if (section == "axes: range") {
        return definitions["axis_range"];
    }
    if (section == "series") {
        return definitions["series"];
    }
    if (section == "profile") {
        return definitions["profile_file"];
    }
    if (section == "memory.trim") {
        return top["memory"]["properties"]["trim"];
    }
    if (section == "assert") {
        return top["assert"]["items"];
    }
    if (section == "pool" || section == "numa") {
        return top["memory"]["properties"][section];
    }
    if (constexpr std::string_view allocators = "allocators: "; section.starts_with(allocators)) {
        return top["allocators"]["properties"][section.substr(allocators.size())];
    }
    if (section == "transfer") {
        return definitions["transfer"];
    }
    return section.starts_with("step: ") ? definitions["step_" + section.substr(6)] : top[section];
}

std::set<std::string> keys_of(const json& object)
{
    std::set<std::string> keys;
    for (const auto& item : object.items()) {
        keys.insert(item.key());
    }
    return keys;
}

std::set<std::string> names_of(std::span<const OptionInfo> options, bool required_only)
{
    std::set<std::string> names;
    for (const OptionInfo& option : options) {
        if (option.required || !required_only) {
            names.emplace(option.name);
        }
    }
    return names;
}

std::set<std::string> with_step(std::set<std::string> names, bool required_only)
{
    names.merge(names_of(scenarios::step_table().options(), required_only));
    return names;
}

bool is_number(std::string_view text)
{
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

json default_json(const OptionInfo& option)
{
    const std::string text{option.default_text};
    switch (option.kind) {
    case OptionKind::size:
        return is_number(text) ? json::parse(text) : json(text);
    case OptionKind::integer:
    case OptionKind::number:
    case OptionKind::boolean:
    case OptionKind::shape:
        return json::parse(text);
    case OptionKind::choices:
        return json{"working_set", "live_bytes"};
    default:
        return text;
    }
}

void check_choices(const OptionInfo& option, const json& property)
{
    const json& values =
        option.kind == OptionKind::choices ? property["items"]["anyOf"][0]["enum"] : property["anyOf"][0]["enum"];
    std::vector<std::string> names;
    for (const std::string_view name : option.choices()) {
        names.emplace_back(name);
    }
    CHECK(values.get<std::vector<std::string>>() == names);
}

void check_property(const OptionInfo& option, const json& property)
{
    INFO(option.name);
    const bool is_op = option.name == "op";
    if ((option.kind == OptionKind::choice || option.kind == OptionKind::choices) && !is_op) {
        check_choices(option, property);
    }
    if (!option.default_text.empty()) {
        REQUIRE(property.contains("default"));
        CHECK(property["default"] == default_json(option));
    }
    if (option.kind == OptionKind::integer && property.contains("anyOf")) {
        CHECK(property["anyOf"][0]["minimum"].get<std::uint64_t>() == option.min);
        if (option.max != UINT64_MAX) {
            CHECK(property["anyOf"][0]["maximum"].get<std::uint64_t>() == option.max);
        }
    }
}

std::string written(const OptionInfo& option)
{
    const bool bare = option.kind == OptionKind::boolean || is_number(option.default_text);
    return fmt::format("\"{}\": {}", option.name,
                       option.kind == OptionKind::choices ? R"(["working_set", "live_bytes"])"
                       : bare                             ? std::string{option.default_text}
                                                          : fmt::format("\"{}\"", option.default_text));
}

// Every optional key with a default, written out.
std::string all_defaults(std::span<const OptionInfo> options)
{
    std::string keys;
    for (const OptionInfo& option : options) {
        if (!option.default_text.empty()) {
            keys += (keys.empty() ? "" : ", ") + written(option);
        }
    }
    return keys;
}

}  // namespace

TEST_CASE("the schema knows exactly the keys of the option tables", "[unit]")
{
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        if (section.name == "step") {
            continue;  // part of every operation below
        }
        INFO(section.name);
        const bool is_step = section.name.starts_with("step: ");
        const json object = schema_of(section.name);
        auto names = names_of(section.options, false);
        auto required = names_of(section.options, true);
        const json listed = object.value("required", json::array());
        CHECK(keys_of(object["properties"]) == (is_step ? with_step(std::move(names), false) : names));
        CHECK(listed.get<std::set<std::string>>() == (is_step ? with_step(std::move(required), true) : required));
        CHECK(object["additionalProperties"] == false);
        CHECK(object["patternProperties"].contains("^x-"));
        for (const OptionInfo& option : section.options) {
            check_property(option, object["properties"][std::string{option.name}]);
        }
    }
}

TEST_CASE("the schema describes every key", "[unit]")
{
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        const json properties = section.name == "step" ? json::object() : schema_of(section.name)["properties"];
        for (const auto& property : properties.items()) {
            INFO(section.name << "." << property.key());
            CHECK((property.value().contains("description") || property.value().contains("const")));
        }
    }
}

TEST_CASE("a default written out changes nothing", "[unit]")
{
    const auto fingerprint = [](const std::string& keys) { return plan_of(scenario_text(keys)).fingerprint; };
    const std::string steps =
        R"("steps": [{"op": "alloc", "as": "a", "shape": [2]}, {"op": "write", "target": "a"}, {"op": "sample", "name": "end"}])";
    const std::string plain = fingerprint(steps);
    CHECK(fingerprint(fmt::format("\"memory\": {{{}}}, {}", all_defaults(scenarios::memory_table().options()),
                                  steps)) == plain);
    CHECK(fingerprint(fmt::format("\"release\": {{{}}}, {}", all_defaults(scenarios::release_table().options()),
                                  steps)) == plain);
    CHECK(fingerprint(fmt::format("\"requires\": {{{}}}, {}", all_defaults(scenarios::requires_table().options()),
                                  steps)) == plain);
    CHECK(fingerprint(fmt::format(
              R"("steps": [{{"op": "alloc", "as": "a", "shape": [2], {}}}, {{"op": "write", "target": "a", {}}},
                                     {{"op": "sample", "name": "end", {}}}])",
              all_defaults(scenarios::operation_options("alloc")), all_defaults(scenarios::operation_options("write")),
              all_defaults(scenarios::step_table().options()))) == plain);
    const std::string claim = R"("assert": [{"expr": "wall_time.max < 1s")";
    CHECK(fingerprint(fmt::format("{}, {}}}], {}", claim, all_defaults(scenarios::assert_table().options()), steps)) ==
          fingerprint(fmt::format("{}}}], {}", claim, steps)));
    const std::string series = R"("series": {"interval": "5ms")";
    CHECK(fingerprint(fmt::format("{}, {}}}, {}", series, all_defaults(scenarios::series_table().options()), steps)) ==
          fingerprint(fmt::format("{}}}, {}", series, steps)));
}

TEST_CASE("modes' own release keys have the model's defaults too", "[unit]")
{
    for (const char* mode : {"finalizer", "deferred_batch"}) {
        const auto plan = plan_of(scenario_text(fmt::format(
            R"("release": {{"mode": "{}", "collect_every": 0, "gated": false, "finalizer_threads": 1, "release_cost": "0ns", "batch": 16}}, "steps": [{{"op": "collect"}}])",
            mode)));
        const auto bare =
            plan_of(scenario_text(fmt::format(R"("release": {{"mode": "{}"}}, "steps": [{{"op": "collect"}}])", mode)));
        CHECK(plan.cases[0].release == bare.cases[0].release);
    }
}

TEST_CASE("settings written out equal the model's", "[unit]")
{
    const auto bare = plan_of(scenario_text(R"("steps": [{"op": "collect"}])")).settings;
    const auto full =
        plan_of(scenario_text(R"("repetitions": 10, "warmup": 1, "timeout": "60s", "order": "interleaved", "seed": 1,
                                               "isolation": "process", "steps": [{"op": "collect"}])"))
            .settings;
    const model::Settings model;
    for (const model::Settings& settings : {bare, full}) {
        CHECK(settings.repetitions == model.repetitions);
        CHECK(settings.warmup == model.warmup);
        CHECK(settings.timeout == model.timeout);
        CHECK(settings.order == model.order);
        CHECK(settings.seed == model.seed);
        CHECK(settings.isolation == model.isolation);
    }
    for (const OptionInfo& option : scenarios::settings_table().options()) {
        if (option.name == "timeout") {
            CHECK(option.default_text == "60s");
        }
    }
}

TEST_CASE("bounds are accepted, what lies beyond is not", "[unit]")
{
    const auto errors = [](const std::string& keys) {
        return errors_of(scenario_text(keys + R"(, "steps": [{"op": "collect"}])")).size();
    };
    for (const OptionInfo& option : scenarios::release_table().options()) {
        if (option.kind != OptionKind::integer) {
            continue;
        }
        INFO(option.name);
        CHECK(errors(fmt::format("\"release\": {{\"{}\": {}}}", option.name, option.min)) == 0);
        CHECK(errors(fmt::format("\"release\": {{\"{}\": {}}}", option.name, option.max)) == 0);
        CHECK(errors(fmt::format("\"release\": {{\"{}\": {}}}", option.name, option.max + 1)) == 1);
        if (option.min > 0) {
            CHECK(errors(fmt::format("\"release\": {{\"{}\": {}}}", option.name, option.min - 1)) == 1);
        }
    }
}

TEST_CASE("the result schema, where there is one, is JSON", "[unit]")
{
    CHECK((scenarios::result_schema().empty() ||
           !json::parse(scenarios::result_schema(), nullptr, false).is_discarded()));
}

}  // namespace memsweep::test
