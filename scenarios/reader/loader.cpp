#include "scenarios/reader/loader.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/model/plan.hpp"
#include "scenarios/reader/assertions.hpp"
#include "scenarios/reader/case_reader.hpp"
#include "scenarios/reader/command_reader.hpp"
#include "scenarios/reader/fingerprint.hpp"
#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/settings.hpp"

namespace memsweep::scenarios {
namespace {

class Loading {
  public:
    Loading(const Overrides& overrides, const Surroundings& surroundings)
        : overrides_{overrides}, surroundings_{surroundings}
    {
    }

    Loaded run(const std::string& name, std::string_view text)
    {
        plan_.path = name;
        plan_.sha256 = sha256(text);
        const SourceNode* root = sources_.add(name, text);
        if (root != nullptr) {
            read_top(*root);
        }
        if (diagnostics_.count() > 0) {
            return tl::unexpected{diagnostics_.sorted()};
        }
        take_fingerprints(plan_);
        return std::move(plan_);
    }

  private:
    void read_top(const SourceNode& root)
    {
        const Scope bare{surroundings_};
        Fields top{root, "a scenario", {bare, diagnostics_}};
        if (!top.is_object() || !check_format(top)) {
            return;
        }
        top.check(scenario_table().options());
        read_labels(top, plan_);
        Flags flags;
        const Variables variables =
            read_variables(top.raw("variables"), overrides_.variables, sources_, flags, {bare, diagnostics_});
        const Scope scope{.surroundings = surroundings_, .variables = &variables, .variable_flags = &flags};
        read_body(root, {scope, diagnostics_});
    }

    void read_body(const SourceNode& root, const Reading& reading)
    {
        RunSettings run;
        for (const SourceNode* layer : included_settings(root, plan_.path, sources_, reading)) {
            Fields settings{*layer, "an included settings file", reading};
            settings.check(settings_table().options());
            check_texts(settings);
            read_settings(settings, settings_table(), reading, run);
        }
        Fields top{root, "a scenario", reading};
        top.check(scenario_table().options());
        check_subject(top);
        read_settings(top, scenario_table(), reading, run);
        override_settings(overrides_, run, sources_, diagnostics_);
        plan_.settings = run.settings;
        read_object(top, "requires", requires_table(), reading, plan_.requirements);
        plan_.requirements.ranks = read_ranks(top);
        read_cases_and_claims(top, run.series, reading);
    }

    // What is measured: one of two.
    static void check_subject(const Fields& top)
    {
        if (top.has("command")) {
            refuse_beside_command(top);
        } else if (!top.has("steps")) {
            top.complain(top.place("steps"), "a scenario lacks \"steps\": what one repetition does, in order; or "
                                             "\"command\": a program to run");
        }
    }

    void read_cases_and_claims(const Fields& top, const model::SeriesSpec& series, const Reading& reading)
    {
        Axes axes = read_axes(top.raw("axes"), overrides_.axes, sources_, reading);
        check_axes(top, axes);
        plan_.cases = read_cases(top, plan_, axes, series, sources_, reading);
        override_safety(overrides_, plan_.cases);
        if (const SourceNode* claims = top.raw("assert")) {
            plan_.assertions = read_assertions(*claims, axes, points(top), reading);
        }
        plan_.axes = std::move(axes.used);
    }

    void check_axes(const Fields& top, const Axes& axes) const
    {
        for (const std::string_view name : axis_names(axes)) {
            // What memsweep-mpi adds to a case for every transfer.
            if (plan_.requirements.ranks.count != 0 && std::ranges::find(rank_params, name) != rank_params.end()) {
                top.complain(top.place("axes"), fmt::format("axis \"{}\": between ranks every transfer has a parameter "
                                                            "of this name; call the axis otherwise",
                                                            name));
            }
            if (name == model::placement_axis && top.has("command")) {
                top.complain(top.place("axes"),
                             "axis \"placement\" says which cases share a worker: a command has none");
            } else if (name == model::placement_axis && plan_.settings.isolation == model::Isolation::none) {
                top.complain(top.place("axes"), "axis \"placement\" says which cases share a worker: it needs "
                                                "isolation \"process\", not \"none\"");
            }
        }
    }

    [[nodiscard]] std::set<std::string> points(const Fields& top) const
    {
        std::set<std::string> found;
        for (const model::Case& plan_case : plan_.cases) {
            collect_points(plan_case.steps(), found);
        }
        if (diagnostics_.count() > 0 && top.has("steps")) {
            collect_points(*top.raw("steps"), found);
        }
        return found;
    }

    const Overrides& overrides_;
    const Surroundings& surroundings_;
    Diagnostics diagnostics_;
    Sources sources_{diagnostics_};
    model::Plan plan_;
};

}  // namespace

Loaded load(const std::string& path, const Overrides& overrides, const Surroundings& surroundings)
{
    auto text = surroundings.read_file(path);
    if (!text) {
        return tl::unexpected{std::vector<base::Error>{std::move(text.error())}};
    }
    auto loaded = load_text(path == "-" ? "<stdin>" : path, *text, overrides, surroundings);
    if (loaded) {
        loaded->path = path;
    }
    return loaded;
}

Loaded load_text(const std::string& name, std::string_view text, const Overrides& overrides,
                 const Surroundings& surroundings)
{
    return Loading{overrides, surroundings}.run(name, text);
}

namespace {

namespace fs = std::filesystem;

bool is_scenario_file(const fs::path& path)
{
    return path.extension() == ".json" || path.extension() == ".jsonc";
}

base::Expected<std::vector<std::string>> files_in(const std::string& directory)
{
    std::error_code error;
    std::vector<std::string> files;
    auto entry = fs::directory_iterator{directory, error};
    for (; !error && entry != fs::directory_iterator{}; entry.increment(error)) {
        if (is_scenario_file(entry->path())) {
            files.push_back(entry->path().string());
        }
    }
    if (error) {
        return base::fail(base::ErrorCode::io, fmt::format("cannot list: {}", error.message()), directory);
    }
    std::sort(files.begin(), files.end());
    return files;
}

CatalogEntry read_entry(const std::string& path, const Surroundings& surroundings)
{
    CatalogEntry entry{path, fs::path{path}.stem().string(), {}, 0, {}};
    auto plan = load(path, {}, surroundings);
    if (!plan) {
        entry.errors = std::move(plan.error());
        return entry;
    }
    entry.name = std::move(plan->name);
    entry.description = std::move(plan->description);
    entry.cases = plan->cases.size();
    return entry;
}

}  // namespace

base::Expected<std::vector<CatalogEntry>> list_catalog(const std::string& directory, const Surroundings& surroundings)
{
    const auto files = MEMSWEEP_TRY(files_in(directory));
    std::vector<CatalogEntry> entries;
    for (const std::string& path : files) {
        entries.push_back(read_entry(path, surroundings));
    }
    return entries;
}

namespace {

// What the file says of itself; what it inherits, empty for nothing, is left in `inherits`.
void read_profile_labels(const std::string& path, const Reading& reading, Sources& sources, ProfileEntry& entry,
                         std::string& inherits)
{
    const auto text = reading.scope.surroundings.read_file(path);
    if (!text) {
        reading.diagnostics.add(sources.flag(path), text.error().message);
        return;
    }
    if (const SourceNode* root = sources.add(path, *text)) {
        Fields profile{*root, "a profile", reading};
        profile.check(profile_table().options());
        profile.read("description", entry.description);
        profile.read("inherits", inherits);
    }
}

ProfileEntry read_profile_entry(const std::string& path, const Surroundings& surroundings, std::string& inherits)
{
    ProfileEntry entry{.path = path, .name = fs::path{path}.stem().string()};
    const Scope bare{surroundings};
    Diagnostics diagnostics;
    Sources sources{diagnostics};
    read_profile_labels(path, {bare, diagnostics}, sources, entry, inherits);
    if (diagnostics.count() == 0) {
        model::Case one;
        ReleaseReader{sources}.read_profile(entry.name, sources.flag(path), {bare, diagnostics}, one);
        entry.mode = name_of(one.release.mode);
        entry.verified = !one.release.unverified;
    }
    entry.errors = diagnostics.sorted();
    return entry;
}

}  // namespace

base::Expected<std::vector<ProfileEntry>> list_profiles(const Surroundings& surroundings)
{
    const auto files = MEMSWEEP_TRY(files_in(surroundings.profile_folder));
    std::vector<ProfileEntry> entries;
    std::map<std::string, std::string> inherited;  // by the name of the heir
    for (const std::string& path : files) {
        std::string inherits;
        entries.push_back(read_profile_entry(path, surroundings, inherits));
        if (!inherits.empty()) {
            inherited.emplace(entries.back().name, std::move(inherits));
        }
    }
    for (ProfileEntry& entry : entries) {
        entry.family = entry.name;
        // No chain is longer than the list, unless it goes in a circle, which is among the errors.
        for (std::size_t i = 0; i < entries.size() && inherited.contains(entry.family); ++i) {
            entry.family = inherited.at(entry.family);
        }
    }
    return entries;
}

}  // namespace memsweep::scenarios
