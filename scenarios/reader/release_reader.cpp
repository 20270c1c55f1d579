#include "scenarios/reader/release_reader.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/reader/option_tables.hpp"
#include "scenarios/reader/quote.hpp"
#include "scenarios/reader/text_check.hpp"

namespace memsweep::scenarios {
namespace {

namespace fs = std::filesystem;

// "; there are a, b", or nothing.
std::string names_in(const std::string& folder)
{
    std::vector<std::string> names;
    std::error_code problem;
    for (auto entry = fs::directory_iterator{folder, problem}; !problem && entry != fs::directory_iterator{};
         entry.increment(problem)) {
        if (entry->path().extension() == ".json") {
            names.push_back(entry->path().stem().string());
        }
    }
    std::sort(names.begin(), names.end());
    return names.empty() ? "" : fmt::format("; there are {}", fmt::join(names, ", "));
}

bool is_path(const std::string& name)
{
    return name.find('/') != std::string::npos || name.ends_with(".json");
}

}  // namespace

void ReleaseReader::read(const Node& node, const Reading& reading, model::Case& plan_case)
{
    Fields fields{node, "\"release\"", reading};
    fields.check(release_table().options());
    if (std::string profile; fields.read("profile", profile)) {
        read_profile(profile, fields.place("profile"), reading, plan_case);
    }
    // Keys of a mode that is not selected are read and checked all the same: an axis over modes shares one block.
    fields.read(release_table(), plan_case.release);
}

void ReleaseReader::read_profile(const std::string& name, const Place& place, const Reading& reading,
                                 model::Case& plan_case)
{
    plan_case.profile = name;
    plan_case.release.modelled = true;
    apply_profile(name, place, reading, plan_case);
}

void ReleaseReader::apply_profile(const std::string& name, const Place& place, const Reading& reading,
                                  model::Case& plan_case)
{
    const Node* root = open(name, place, reading);
    if (root == nullptr) {
        return;
    }
    if (std::find(chain_.begin(), chain_.end(), name) != chain_.end()) {
        reading.diagnostics.add(place, fmt::format("profile {} inherits from itself", in_quotes(name)));
        return;
    }
    // A profile's values are its own: no variable or axis of the scenario reaches into it.
    const Scope bare{reading.scope.surroundings};
    const Reading own{bare, reading.diagnostics};
    Fields profile{*root, "a profile", own};
    profile.check(profile_table().options());
    Profile head;
    profile.read(profile_table(), head);
    std::string inherited;
    if (profile.read("inherits", inherited)) {
        chain_.push_back(name);
        apply_profile(inherited, profile.place("inherits"), own, plan_case);
        chain_.pop_back();
    }
    plan_case.release.unverified = !head.verified;
    if (const Node* keys = profile.raw("release")) {
        Fields fields{*keys, "a profile's \"release\"", own};
        fields.check(release_table().options());
        if (const Node* nested = fields.raw("profile")) {
            reading.diagnostics.add(nested->place, "a profile names another by \"inherits\"");
        }
        fields.read(release_table(), plan_case.release);
    }
}

const Node* ReleaseReader::open(const std::string& name, const Place& place, const Reading& reading)
{
    if (name.empty() || name.size() > 4096 || find_bad_byte(name)) {
        reading.diagnostics.add(place, "\"profile\" must be the name of a profile or a path");
        return nullptr;
    }
    const std::string path = path_of(name, place, reading);
    const auto known = opened_.find(path);
    if (known != opened_.end()) {
        return known->second;
    }
    const auto text = reading.scope.surroundings.read_file(path);
    if (!text) {
        const std::string hint = is_path(name) ? "" : names_in(reading.scope.surroundings.profile_folder);
        reading.diagnostics.add(place, fmt::format("no profile {}: cannot read {}: {}{}", in_quotes(name),
                                                   in_quotes(path), text.error().message, hint));
    }
    const Node* root = text ? sources_.add(path, *text) : nullptr;
    opened_[path] = root;
    return root;
}

std::string ReleaseReader::path_of(const std::string& name, const Place& place, const Reading& reading)
{
    if (is_path(name)) {
        const fs::path wanted{name};
        const fs::path beside = fs::path{place.name}.parent_path() / wanted;
        return wanted.is_absolute() ? name : beside.lexically_normal().string();
    }
    return (fs::path{reading.scope.surroundings.profile_folder} / (name + ".json")).string();
}

}  // namespace memsweep::scenarios
