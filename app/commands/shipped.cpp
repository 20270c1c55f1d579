#include "app/commands/shipped.hpp"

#include <algorithm>
#include <filesystem>

namespace memsweep::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* scenario_folder = "scenarios/catalog";
constexpr const char* gate_folder = "configs/gates";

bool is_there(const fs::path& path)
{
    std::error_code problem;
    return fs::exists(path, problem);
}

std::string named_file(const std::string& argument, const std::string& folder)
{
    const bool is_name = argument.find('/') == std::string::npos && argument.find('.') == std::string::npos &&
                         argument != "-" && !argument.empty();
    if (!is_name || is_there(argument)) {
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

}  // namespace

std::string shipped(const std::string& relative)
{
    if (is_there(relative)) {
        return relative;
    }
    std::error_code problem;
    const fs::path folder = fs::read_symlink("/proc/self/exe", problem).parent_path();
    const std::string beside = (folder / "../share/memsweep" / relative).lexically_normal().string();
    const std::string built = (folder / "../.." / relative).lexically_normal().string();
    return !is_there(beside) && is_there(built) ? built : beside;
}

std::string scenario_path(const std::string& argument)
{
    return named_file(argument, scenario_folder);
}

std::string gate_path(const std::string& argument)
{
    return named_file(argument, gate_folder);
}

std::vector<std::string> shipped_scenarios()
{
    return names_in(scenario_folder);
}

std::vector<std::string> shipped_gates()
{
    return names_in(gate_folder);
}

}  // namespace memsweep::app
