#include "app/commands/project_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/command_line.hpp"
#include "app/commands/run_session.hpp"
#include "app/commands/shipped.hpp"
#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"
#include "reporters/text/json_parse.hpp"

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_bytes = 1ULL << 20;
constexpr std::string_view name = "memsweep.json";
constexpr std::array<std::string_view, 7> keys{"$schema",   "format", "version",   "results",
                                               "baselines", "gate",   "thresholds"};

std::string below(const fs::path& folder, const std::string& path)
{
    const fs::path whole = (folder / path).lexically_normal();
    std::error_code problem;
    const fs::path here = fs::current_path(problem);
    const fs::path short_path = problem ? fs::path{} : whole.lexically_relative(here);
    return short_path.empty() ? whole.string() : short_path.string();
}

base::Expected<void> take_thresholds(const reporters::Json& value, ProjectFile& project)
{
    for (const auto& [metric, threshold] : value.members()) {
        if (threshold.text() == nullptr) {
            return refuse(fmt::format("the threshold of {} is a text, as \"5%\"", base::printable(metric)),
                          project.path);
        }
        project.thresholds[metric] = *threshold.text();
    }
    return {};
}

base::Expected<void> take_member(const std::string& key, const reporters::Json& value, ProjectFile& project)
{
    if (std::ranges::find(keys, key) == keys.end()) {
        return refuse(fmt::format("unknown key \"{}\"{}", base::printable(key), base::suggestion(key, keys)),
                      project.path);
    }
    const fs::path folder = fs::path{project.path}.parent_path();
    for (const auto& [wanted, target] :
         {std::pair{"results", &project.results}, {"baselines", &project.baselines}, {"gate", &project.gate}}) {
        if (key != wanted) {
            continue;
        }
        if (value.text() == nullptr || value.text()->empty()) {
            return refuse(fmt::format("\"{}\" is the name of a {}", key, key == "gate" ? "file" : "folder"),
                          project.path);
        }
        const bool ships = key == "gate" && gate_path(*value.text()) != *value.text();
        *target = ships ? *value.text() : below(folder, *value.text());
    }
    return key == "thresholds" ? take_thresholds(value, project) : base::Expected<void>{};
}

base::Expected<std::optional<ProjectFile>> read_project(const std::string& path)
{
    const std::string text = MEMSWEEP_TRY(sys::read_file(path, largest_bytes));
    reporters::JsonBuilder builder{reporters::most_held(text.size())};
    if (const auto failure = reporters::parse_json(text, builder)) {
        return refuse(failure->message.empty() ? std::string{"is no JSON"} : failure->message, path);
    }
    const reporters::Json whole = builder.whole();
    const reporters::Json* const format = whole.find("format");
    if (format == nullptr || format->text() == nullptr || *format->text() != "memsweep-project") {
        return std::optional<ProjectFile>{};
    }
    const reporters::Json* const version = whole.find("version");
    if (version == nullptr || version->number() != 1) {
        return refuse("\"version\" is 1 in the project files that this memsweep reads", path);
    }
    ProjectFile project{.path = path};
    for (const auto& [key, value] : whole.members()) {
        MEMSWEEP_TRY(take_member(key, value, project));
    }
    return std::optional{std::move(project)};
}

}  // namespace

base::Expected<std::optional<ProjectFile>> find_project_file()
{
    std::error_code problem;
    for (fs::path folder = fs::current_path(problem); !problem && !folder.empty(); folder = folder.parent_path()) {
        const fs::path path = folder / name;
        if (fs::is_regular_file(path, problem)) {
            if (auto project = MEMSWEEP_TRY(read_project(path.string()))) {
                return project;
            }
        }
        problem.clear();
        if (folder == folder.parent_path()) {
            break;
        }
    }
    return std::optional<ProjectFile>{};
}

void apply(const ProjectFile& project, RunCommand& run)
{
    run.results_folder = project.results;
    run.baselines_folder = project.baselines;
    const bool is_compared = !run.against.empty() || !run.baseline.empty() || !run.baselines_folder.empty();
    if (run.gate.empty() && is_compared) {
        run.gate = project.gate;
    }
    if (is_compared) {
        run.project_thresholds = project.thresholds;
    }
}

std::string described(const ProjectFile& project)
{
    std::vector<std::string> parts;
    const auto add = [&](std::string_view what, const std::string& value) {
        if (!value.empty()) {
            parts.push_back(fmt::format("{} {}", what, base::printable(value)));
        }
    };
    add("results in", project.results);
    add("baselines in", project.baselines);
    add("gate", project.gate);
    for (const auto& [metric, threshold] : project.thresholds) {
        add(metric, threshold);
    }
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace memsweep::app
