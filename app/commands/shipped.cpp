#include "app/commands/shipped.hpp"

#include <algorithm>
#include <filesystem>

#include <sys/auxv.h>

#include "core/base/text.hpp"

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* scenario_folder = "scenarios/catalog";
constexpr const char* gate_folder = "configs/gates";
constexpr const char* limits_folder = "configs/limits";

bool is_there(const fs::path& path)
{
    std::error_code problem;
    return fs::exists(path, problem);
}

// The folder of the executable. Without /proc the executable is taken as it was named to execve(2).
fs::path own_folder()
{
    std::error_code problem;
    const fs::path file = fs::read_symlink("/proc/self/exe", problem);
    if (!problem) {
        return file.parent_path();
    }
    // NOLINTNEXTLINE(performance-no-int-to-ptr): what getauxval(3) gives
    const auto* const named = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return fs::canonical(named == nullptr ? "" : named, problem).parent_path();
}

bool is_name(const std::string& argument)
{
    return argument.find_first_of("/.") == std::string::npos && argument != "-" && !argument.empty();
}

std::string named_file(const std::string& argument, const std::string& folder)
{
    if (!is_name(argument)) {
        return argument;
    }
    const std::string path = shipped(folder + "/" + argument + ".json");
    return is_there(path) ? path : argument;
}

std::vector<std::string> names_in(const std::string& folder)
{
    std::vector<std::string> names;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator{shipped(folder), problem}) {
        names.push_back(entry.path().stem().string());
    }
    std::ranges::sort(names);
    return names;
}

// By the stem: "churn.json" means "churn".
std::string nearest_hint(const std::string& argument, const std::string& folder)
{
    const bool is_found = is_there(named_file(argument, folder));
    if (is_found || argument.find('/') != std::string::npos || argument == "-") {
        return {};
    }
    const std::vector<std::string> names = names_in(folder);
    const std::vector<std::string_view> known{names.begin(), names.end()};
    return base::suggestion(fs::path{argument}.stem().string(), known);
}

}  // namespace

std::string shipped(const std::string& relative)
{
    std::error_code problem;
    const fs::path folder = own_folder();
    const std::string beside = (folder / "../share/memsweep" / relative).lexically_normal().string();
    const std::string built = (folder / "../.." / relative).lexically_normal().string();
    const std::string& found = !is_there(beside) && is_there(built) ? built : beside;
    return fs::equivalent(relative, found, problem) ? relative : found;
}

std::string scenario_path(const std::string& argument)
{
    return named_file(argument, scenario_folder);
}

std::string gate_path(const std::string& argument)
{
    return named_file(argument, gate_folder);
}

std::string limits_path(const std::string& argument)
{
    return named_file(argument, limits_folder);
}

std::string scenario_hint(const std::string& argument)
{
    const std::string hint = nearest_hint(argument, scenario_folder);
    return hint.empty() && is_name(argument) && !is_there(scenario_path(argument))
               ? "; memsweep list scenarios names those that ship"
               : hint;
}

std::string gate_hint(const std::string& argument)
{
    return nearest_hint(argument, gate_folder);
}

std::string limits_hint(const std::string& argument)
{
    return nearest_hint(argument, limits_folder);
}

bool is_shipped_scenario(const std::string& path)
{
    std::error_code problem;
    return fs::equivalent(fs::absolute(path, problem).parent_path(), shipped(scenario_folder), problem);
}

std::vector<std::string> shipped_scenarios()
{
    return names_in(scenario_folder);
}

std::vector<std::string> shipped_gates()
{
    return names_in(gate_folder);
}

std::vector<std::string> shipped_limits()
{
    return names_in(limits_folder);
}

}  // namespace memsweep::app
