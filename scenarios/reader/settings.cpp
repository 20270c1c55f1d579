#include "scenarios/reader/settings.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/quote.hpp"
#include "scenarios/reader/text_check.hpp"
#include "scenarios/reader/values.hpp"

namespace memsweep::scenarios {
namespace {

constexpr std::string_view scenario_format = "memsweep-scenario";

void check_text(const Fields& top, std::string_view key)
{
    const Node* node = top.raw(key);
    if (node != nullptr && node->as<std::string>() == nullptr) {
        top.complain(node->place, fmt::format("\"{}\" must be a string, not {}", key, describe(*node)));
    }
}

}  // namespace

bool check_format(const Fields& top)
{
    const Node* format = top.raw("format");
    const auto* name = format == nullptr ? nullptr : format->as<std::string>();
    if (format != nullptr && (name == nullptr || *name != scenario_format)) {
        top.complain(format->place,
                     fmt::format("\"format\" must be \"{}\", not {}", scenario_format, describe(*format)));
        return false;
    }
    const Node* version = top.raw("version");
    const auto* number = version == nullptr ? nullptr : version->as<std::int64_t>();
    if (version != nullptr && (number == nullptr || *number != 1)) {
        top.complain(version->place, fmt::format("\"version\" must be 1, the only one this memsweep reads, not {}",
                                                 describe(*version)));
    }
    return true;
}

void check_texts(const Fields& top)
{
    check_text(top, "$schema");
    check_text(top, "description");
}

void read_labels(const Fields& top, model::Plan& plan)
{
    if (const Node* name = top.raw("name")) {
        const auto* text = name->as<std::string>();
        if (text == nullptr || !is_name(*text)) {
            top.complain(name->place,
                         fmt::format("\"name\" must be a lower-case letter, then letters, digits and _, not {}",
                                     describe(*name)));
        } else {
            plan.name = *text;
        }
    }
    check_texts(top);
    const Node* description = top.raw("description");
    const auto* text = description == nullptr ? nullptr : description->as<std::string>();
    plan.description = text == nullptr ? std::string{} : *text;
}

void read_settings(const Fields& fields, const Reading& reading, RunSettings& run)
{
    fields.read(settings_table(), run);
    if (const Node* series = fields.raw("series")) {
        run.series = read_series(*series, reading);
    }
}

model::SeriesSpec read_series(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"series\"", reading};
    fields.check(series_table().options());
    model::SeriesSpec series;
    series.working_set = true;
    series.live_bytes = true;
    fields.read(series_table(), series);
    return series;
}

model::RankNeed read_ranks(const Fields& top)
{
    model::RankNeed need;
    const Node* node = top.raw("ranks");
    const auto* text = node == nullptr ? nullptr : node->as<std::string>();
    if (text != nullptr && text->ends_with('+')) {
        const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), need.count);
        if (problem != std::errc{} || end + 1 != text->data() + text->size() || need.count < 2 ||
            need.count > max_ranks) {
            top.complain(node->place,
                         fmt::format("\"ranks\" must be an integer from 2 to {}, or such a number and +, as "
                                     "in \"2+\"; not \"{}\"",
                                     max_ranks, *text));
            return {};
        }
        need.or_more = true;
        return need;
    }
    top.read("ranks", need.count);
    return need;
}

model::Requirements read_requirements(const Node& node, const Reading& reading)
{
    Fields fields{node, "\"requires\"", reading};
    fields.check(requires_table().options());
    model::Requirements requirements;
    fields.read(requires_table(), requirements);
    return requirements;
}

namespace {

class Bounds {
  public:
    Bounds(Sources& sources, Diagnostics& diagnostics) : sources_{sources}, diagnostics_{diagnostics} {}

    void check(std::string_view key, std::uint64_t value)
    {
        const auto options = settings_table().options();
        const auto option =
            std::find_if(options.begin(), options.end(), [&](const auto& one) { return one.name == key; });
        MEMSWEEP_ASSERT(option != options.end(), "every setting is in its option table");
        if (value < option->min || value > option->max) {
            const std::string shown =
                option->kind == OptionKind::duration ? fmt::format("{}ns", value) : fmt::format("{}", value);
            diagnostics_.add(sources_.flag(fmt::format("--{} {}", key, shown)),
                             fmt::format("must be {}", accepted(*option)));
        }
    }

  private:
    Sources& sources_;
    Diagnostics& diagnostics_;
};

}  // namespace

void override_settings(const Overrides& overrides, model::Settings& settings, Sources& sources,
                       Diagnostics& diagnostics)
{
    settings.repetitions = overrides.repetitions.value_or(settings.repetitions);
    settings.warmup = overrides.warmup.value_or(settings.warmup);
    settings.seed = overrides.seed.value_or(settings.seed);
    settings.isolation = overrides.isolation.value_or(settings.isolation);
    settings.timeout = overrides.timeout.value_or(settings.timeout);
    Bounds bounds{sources, diagnostics};
    if (overrides.repetitions) {
        bounds.check("repetitions", *overrides.repetitions);
    }
    if (overrides.warmup) {
        bounds.check("warmup", *overrides.warmup);
    }
    if (overrides.timeout) {
        bounds.check("timeout", static_cast<std::uint64_t>(overrides.timeout->count()));
    }
}

void override_safety(const Overrides& overrides, std::vector<model::Case>& cases)
{
    for (model::Case& plan_case : cases) {
        model::SafetySpec& safety = plan_case.release.safety;
        safety.detect = overrides.detect.value_or(safety.detect);
        safety.guard_pages = safety.guard_pages || overrides.guard_pages;
        safety.ignore_manual_free = safety.ignore_manual_free || overrides.ignore_manual_free;
    }
}

namespace {

bool is_reserved(std::string_view name)
{
    const auto& words = reserved_words();
    return std::find(words.begin(), words.end(), name) != words.end();
}

void read_member(const Member& member, const Reading& reading, Variables& variables)
{
    if (!is_name(member.key) || is_reserved(member.key)) {
        reading.diagnostics.add(
            member.key_place,
            fmt::format("{} {}", in_quotes(member.key),
                        is_reserved(member.key)
                            ? "is a reserved word, not a variable to set"
                            : "is no name for a variable: a lower-case letter, then letters, digits and _"));
    }
    variables[member.key] = read_scalar(member.value, "a variable", reading);
}

void override_one(const std::pair<std::string, std::string>& assignment, Sources& sources, const Reading& reading,
                  Variables& variables)
{
    const auto& [name, text] = assignment;
    const Place place = sources.flag(fmt::format("--set {}", printable_assignment(name, text)));
    const auto variable = variables.find(name);
    if (variable == variables.end()) {
        std::vector<std::string_view> known;
        for (const auto& entry : variables) {
            known.push_back(entry.first);
        }
        reading.diagnostics.add(
            place, known.empty() ? "the scenario has no variables"
                                 : fmt::format("unknown variable {}{}", in_quotes(name), did_you_mean(name, known)));
        return;
    }
    if (find_bad_byte(text)) {
        reading.diagnostics.add(place, "the value is not plain UTF-8 text");
        return;
    }
    variable->second = read_scalar(node_of(scalar_of_text(text), place), "a variable", reading);
}

}  // namespace

Variables read_variables(const Node* node, const Assignments& overrides, Sources& sources, const Reading& reading)
{
    Variables variables;
    if (node != nullptr) {
        const Fields fields{*node, "\"variables\"", reading};
        fields.each([&](const Member& member) { read_member(member, reading, variables); });
    }
    for (const auto& assignment : overrides) {
        override_one(assignment, sources, reading, variables);
    }
    return variables;
}

}  // namespace memsweep::scenarios
