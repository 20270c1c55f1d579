#include "scenarios/reader/settings.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/fields.hpp"
#include "scenarios/reader/foreign_text.hpp"
#include "scenarios/reader/limits.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::scenarios {
namespace {

void check_text(const Fields& top, std::string_view key)
{
    const SourceNode* node = top.raw(key);
    if (node != nullptr && node->as<std::string>() == nullptr) {
        top.complain(node->place, fmt::format("\"{}\" must be a string, not {}", key, describe(*node)));
    }
}

}  // namespace

bool check_format(const Fields& top)
{
    if (!top.has_format("memsweep-scenario")) {
        return false;
    }
    const SourceNode* version = top.raw("version");
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
    if (const SourceNode* name = top.raw("name")) {
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
    const SourceNode* description = top.raw("description");
    const auto* text = description == nullptr ? nullptr : description->as<std::string>();
    plan.description = text == nullptr ? std::string{} : *text;
}

void read_settings(const Fields& fields, const OptionTable<RunSettings>& table, const Reading& reading,
                   RunSettings& run)
{
    fields.read(table, run);
    if (const SourceNode* series = fields.raw("series")) {
        run.series = {.working_set = true, .live_bytes = true};
        read_object(*series, "series", series_table(), reading, run.series);
    }
}

model::RankNeed read_ranks(const Fields& top)
{
    model::RankNeed need;
    const SourceNode* node = top.raw("ranks");
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

void override_settings(const Overrides& overrides, RunSettings& run, Sources& sources, Diagnostics& diagnostics)
{
    model::Settings& settings = run.settings;
    settings.repetitions = overrides.repetitions.value_or(settings.repetitions);
    settings.warmup = overrides.warmup.value_or(settings.warmup);
    settings.seed = overrides.seed.value_or(settings.seed);
    settings.isolation = overrides.isolation.value_or(settings.isolation);
    settings.timeout = overrides.timeout.value_or(settings.timeout);
    // What a file says is within bounds: whatever is not comes from a flag.
    for (const OptionInfo& option : settings_table().options()) {
        const Value value = option.binding.get == nullptr ? Value{} : option.binding.get(&run);
        const auto* number = std::get_if<std::uint64_t>(&value);
        if (number != nullptr && (*number < option.min || *number > option.max)) {
            const std::string_view unit = option.kind == OptionKind::duration ? "ns" : "";
            diagnostics.add(sources.flag(fmt::format("--{} {}{}", option.name, *number, unit)),
                            fmt::format("must be {}", accepted(option)));
        }
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
    const auto words = reserved_words();
    return std::ranges::find(words, name) != words.end();
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

void override_one(const std::pair<std::string, std::string>& assignment, Sources& sources, Flags& flags,
                  const Reading& reading, Variables& variables)
{
    const auto& [name, text] = assignment;
    const Place place = sources.flag(fmt::format("--set {}", printable_assignment(name, text)));
    const auto variable = variables.find(name);
    if (variable == variables.end()) {
        const auto known = names_of(variables, &Variables::value_type::first);
        reading.diagnostics.add(place, known.empty() ? "the scenario has no variables"
                                                     : fmt::format("unknown variable {}{}", in_quotes(name),
                                                                   base::suggestion(name, known)));
        return;
    }
    if (find_bad_byte(text)) {
        reading.diagnostics.add(place, "the value is not plain UTF-8 text");
        return;
    }
    flags.insert_or_assign(name, place);
    variable->second = read_scalar(node_of(scalar_of_text(text), place), "a variable", reading);
}

}  // namespace

Variables read_variables(const SourceNode* node, const Assignments& overrides, Sources& sources, Flags& flags,
                         const Reading& reading)
{
    Variables variables;
    if (node != nullptr) {
        const Fields fields{*node, "\"variables\"", reading};
        fields.each([&](const Member& member) { read_member(member, reading, variables); });
    }
    for (const auto& assignment : overrides) {
        override_one(assignment, sources, flags, reading, variables);
    }
    return variables;
}

namespace {

class Includer {
  public:
    Includer(Sources& sources, const Reading& reading) : sources_{sources}, reading_{reading} {}

    void follow(const SourceNode& file, const std::string& path)
    {
        const Object* object = file.as<Object>();
        const SourceNode* include = object == nullptr ? nullptr : find(*object, "include");
        if (include == nullptr) {
            return;
        }
        chain_.push_back(path);
        if (const List* list = include->as<List>()) {
            std::for_each(list->begin(), list->end(), [&](const SourceNode& item) { add(item, path); });
        } else {
            add(*include, path);
        }
        chain_.pop_back();
    }

    std::vector<const SourceNode*> layers;

  private:
    void add(const SourceNode& item, const std::string& includer)
    {
        const auto* relative = item.as<std::string>();
        if (relative == nullptr || relative->empty() || relative->size() > 4096 || find_bad_byte(*relative)) {
            complain(item, fmt::format("\"include\" must be a path or a list of paths, not {}", describe(item)));
            return;
        }
        const std::filesystem::path wanted{*relative};
        if (wanted.is_absolute()) {
            complain(item, fmt::format("{} must be relative to this file", in_quotes(*relative)));
            return;
        }
        open(item, (std::filesystem::path{includer}.parent_path() / wanted).lexically_normal().string());
    }

    void open(const SourceNode& item, const std::string& path)
    {
        if (std::find(chain_.begin(), chain_.end(), path) != chain_.end()) {
            complain(item, fmt::format("{} includes itself", in_quotes(path)));
            return;
        }
        if (chain_.size() > max_include_depth || sources_.files() >= max_files) {
            complain(item,
                     fmt::format("includes deeper than {} levels or more than {} files", max_include_depth, max_files));
            return;
        }
        const auto text = reading_.scope.surroundings.read_file(path);
        if (!text) {
            complain(item, fmt::format("cannot include {}: {}{}", in_quotes(path), text.error().message,
                                       is_shipped_profile(path) ? profile_hint(item, path) : ""));
            return;
        }
        if (const SourceNode* file = sources_.add(path, *text)) {
            if (is_profile(*file)) {
                complain(item, fmt::format("{} is a runtime profile, not settings{}", in_quotes(path),
                                           profile_hint(item, path)));
                return;
            }
            follow(*file, path);
            layers.push_back(file);
        }
    }

    [[nodiscard]] bool is_shipped_profile(const std::string& path) const
    {
        const Surroundings& around = reading_.scope.surroundings;
        const std::filesystem::path file = std::filesystem::path{path}.filename();
        return around.read_file((std::filesystem::path{around.profile_folder} / file).string()).has_value();
    }

    static bool is_profile(const SourceNode& file)
    {
        const Object* object = file.as<Object>();
        const SourceNode* format = object == nullptr ? nullptr : find(*object, "format");
        const auto* name = format == nullptr ? nullptr : format->as<std::string>();
        return name != nullptr && *name == "memsweep-profile";
    }

    // One that ships has a name; another is named by its path.
    [[nodiscard]] std::string profile_hint(const SourceNode& item, const std::string& path) const
    {
        const std::string name =
            is_shipped_profile(path) ? std::filesystem::path{path}.stem().string() : *item.as<std::string>();
        return fmt::format("; release.profile names it: \"release\": {{\"profile\": {}}}", in_quotes(name));
    }

    void complain(const SourceNode& item, std::string message)
    {
        reading_.diagnostics.add(item.place, std::move(message));
    }

    Sources& sources_;
    Reading reading_;
    std::vector<std::string> chain_;
};

}  // namespace

std::vector<const SourceNode*> included_settings(const SourceNode& top, const std::string& path, Sources& sources,
                                                 const Reading& reading)
{
    Includer includer{sources, reading};
    includer.follow(top, std::filesystem::path{path}.lexically_normal().string());
    return std::move(includer.layers);
}

}  // namespace memsweep::scenarios
