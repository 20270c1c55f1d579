#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/plans.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/model/allocator.hpp"
#include "core/model/metric.hpp"
#include "core/model/plan.hpp"
#include "core/model/specs.hpp"
#include "core/model/step.hpp"
#include "core/sys/allocator_library.hpp"
#include "reporters/formats.hpp"
#include "reporters/json/listing.hpp"
#include "scenarios/reader/loader.hpp"
#include "scenarios/reader/option_tables.hpp"

namespace memsweep::app {
namespace {

struct ListCommand {
    std::string what;
    bool json{};
    std::vector<std::string> files;  // the files of `list cases`, or the folder of `list scenarios`
};

using base::Expected;
using reporters::Listing;

// A text, a yes or no, or a count.
template <typename Value>
model::Scalar cell(const Value& value)
{
    if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
        return std::string{std::string_view{value}};
    } else if constexpr (std::is_same_v<Value, bool>) {
        return value;
    } else {
        return static_cast<std::int64_t>(value);
    }
}

template <typename... Cells>
void add_row(Listing& listing, const Cells&... cells)
{
    listing.rows.push_back({cell(cells)...});
}

Expected<Listing> list_scenarios(const ListCommand& command)
{
    const std::string folder = command.files.empty() ? shipped("scenarios/catalog") : command.files.front();
    const auto entries = MEMSWEEP_TRY(scenarios::list_catalog(folder, surroundings(this_machine())));
    Listing listing{{"name", "cases", "description", "path"}, {}};
    for (const scenarios::CatalogEntry& entry : entries) {
        const std::string description =
            entry.errors.empty() ? entry.description : "invalid: " + base::describe(entry.errors.front());
        add_row(listing, entry.name, entry.cases, description, entry.path);
    }
    return listing;
}

Expected<Listing> list_cases(const ListCommand& command)
{
    if (command.files.empty()) {
        return refuse("name the scenario files whose cases to list", "list cases");
    }
    const scenarios::Surroundings around = surroundings(this_machine());
    Listing listing{{"case", "peak_bytes"}, {}};
    for (const std::string& file : command.files) {
        const auto plan = load_scenario(file, {}, around);
        if (!plan) {
            return base::fail(plan.error().front());
        }
        for (const model::Case& one : plan->cases) {
            if (one.command()) {
                add_row(listing, one.id, "unknown");
            } else {
                add_row(listing, one.id, model::estimated_peak_bytes(one));
            }
        }
    }
    return listing;
}

Expected<Listing> list_metrics(const ListCommand& /*command*/)
{
    Listing listing{{"name", "of", "unit", "better", "class", "provenance", "role", "meaning"}, {}};
    const auto add = [&listing](std::string_view of, std::span<const model::MetricInfo> catalog) {
        for (const model::MetricInfo& info : catalog) {
            add_row(listing, info.name, of, name_of(info.unit), name_of(info.better), name_of(info.metric_class),
                    name_of(info.provenance), name_of(info.role), info.meaning);
        }
    };
    add("repetition", model::metric_catalog());
    add("point", model::point_catalog());
    return listing;
}

// Every key of the sections whose name passes, as the loader reads them.
Listing list_options(const std::function<bool(std::string_view section)>& wanted)
{
    Listing listing{{scenarios::option_columns.begin(), scenarios::option_columns.end()}, {}};
    for (const scenarios::OptionSection& section : scenarios::option_sections()) {
        for (const scenarios::OptionInfo& option : section.options) {
            if (wanted(section.name)) {
                listing.rows.push_back(scenarios::option_cells(section.name, option));
            }
        }
    }
    return listing;
}

template <typename Enum>
void add_values(Listing& listing, std::string_view key)
{
    for (const auto& how : model::names<Enum>()) {
        add_row(listing, key, how.name, "value", false, "", "", "", "", "", how.meaning);
    }
}

template <typename Enum>
void add_names(Listing& listing, std::string_view before = "")
{
    for (const auto& entry : model::names<Enum>()) {
        add_row(listing, fmt::format("{}{}", before, entry.name), entry.meaning);
    }
}

Expected<Listing> list_ops(const ListCommand& command)
{
    if (command.json) {
        Listing listing = list_options([](std::string_view section) { return section.starts_with("step"); });
        add_values<model::TrimHow>(listing, "step.trim.how");
        add_values<model::PrefetchHow>(listing, "step.prefetch.how");
        return listing;
    }
    Listing listing{{"op", "meaning"}, {}};
    for (const model::OperationInfo& info : model::operations()) {
        add_row(listing, info.name, info.meaning);
        if (info.name == "trim") {
            add_names<model::TrimHow>(listing, "  how: ");
        } else if (info.name == "prefetch") {
            add_names<model::PrefetchHow>(listing, "  how: ");
        }
    }
    return listing;
}

// The words of an enumeration; as JSON the keys of its section.
template <typename Enum>
Listing list_names(const ListCommand& command, const char* column, std::string_view section)
{
    if (command.json) {
        return list_options([&](std::string_view name) { return name == section; });
    }
    Listing listing{{column, "meaning"}, {}};
    add_names<Enum>(listing);
    return listing;
}

Expected<Listing> list_allocators(const ListCommand& command)
{
    Listing listing{{"allocator", "installed", "library", "package", "meaning"}, {}};
    if (command.json) {
        listing.columns.emplace_back("settings");
    }
    for (const model::KnownAllocator& known : model::allocators()) {
        const auto library = sys::find_allocator_library(std::string{known.name});
        const std::string path = library ? (library->empty() ? sys::c_library() : *library) : std::string{};
        add_row(listing, known.name, library.has_value(), path, known.package, known.meaning);
        if (command.json) {  // the keys of "allocators" that set it
            const auto settings = value::names_in(scenarios::allocator_options(known.name));
            listing.rows.back().emplace_back(fmt::format("{}", fmt::join(settings, " ")));
        }
    }
    return listing;
}

Expected<Listing> list_profiles(const ListCommand& /*command*/)
{
    const auto entries = MEMSWEEP_TRY(scenarios::list_profiles(surroundings(this_machine())));
    Listing listing{{"profile", "family", "mode", "confirmed", "path", "description"}, {}};
    for (const scenarios::ProfileEntry& entry : entries) {
        const std::string description =
            entry.errors.empty() ? entry.description : "invalid: " + base::describe(entry.errors.front());
        add_row(listing, entry.name, entry.family, entry.mode, entry.verified, entry.path, description);
    }
    return listing;
}

Expected<Listing> list_formats(const ListCommand& /*command*/)
{
    Listing listing{{"format", "extension", "meaning"}, {}};
    for (const reporters::Format& format : reporters::formats()) {
        add_row(listing, format.name, format.extension, format.description);
    }
    return listing;
}

struct Subject {
    std::string_view name;
    Expected<Listing> (*make)(const ListCommand& command);
};

constexpr std::array<Subject, 9> subjects{{
    {"scenarios", list_scenarios},
    {"cases", list_cases},
    {"metrics", list_metrics},
    {"ops", list_ops},
    {"resources",
     [](const ListCommand& command) -> Expected<Listing> {
         return list_names<model::ResourceKind>(command, "resource", "memory");
     }},
    {"disciplines",
     [](const ListCommand& command) -> Expected<Listing> {
         return list_names<model::ReleaseMode>(command, "discipline", "release");
     }},
    {"allocators", list_allocators},
    {"profiles", list_profiles},
    {"formats", list_formats},
}};

Expected<ExitCode> execute(const ListCommand& command, const GlobalOptions& /*global*/)
{
    const Subject& subject = *std::ranges::find(subjects, command.what, &Subject::name);
    const Listing listing = MEMSWEEP_TRY(subject.make(command));
    return print_text(command.json ? reporters::listing_json(listing, "memsweep-list")
                                   : reporters::listing_text(listing, terminal_width(STDOUT_FILENO)));
}

}  // namespace

void add_list(Command& root, const GlobalOptions& global)
{
    Command& command = root.command(
        "list", "List scenarios, cases, metrics, ops, resources, disciplines, allocators, profiles or formats");
    auto& list = arguments_of<ListCommand>(command, global, execute);
    command.positional("what WHAT", value::word(list.what, value::names_in(subjects)),
                       "scenarios, cases, metrics, ops, resources, disciplines, allocators, profiles, formats");
    command.optional_positional("file FILE", value::texts(list.files),
                                "Scenario files of `list cases`; the folder of `list scenarios`");
    command.text_or_json(list.json, "As JSON, with every key's type, unit, default and bounds");
}

}  // namespace memsweep::app
