#include "app/commands/equal_names.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string_view>

#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

bool names_a_file(std::string_view path)
{
    std::error_code problem;
    return path.find('/') != std::string_view::npos && std::filesystem::exists(path, problem);
}

// The words that name a file, by themselves or behind the first "=".
std::vector<std::string*> paths_among(std::vector<std::string>& words)
{
    std::vector<std::string*> paths;
    for (std::string& word : words) {
        const std::size_t equals = word.find('=');
        const bool is_value = equals != std::string::npos && names_a_file(std::string_view{word}.substr(equals + 1));
        if (names_a_file(word) || is_value) {
            paths.push_back(&word);
        }
    }
    return paths;
}

// At the last slash. Not where that is the first byte: to some programs a path that begins with two slashes is another
// one than that which begins with one.
void lengthen(std::string& path, std::size_t length)
{
    const std::size_t last = path.find_last_of('/');
    if (last > 0 && path.size() < length) {
        path.insert(last, length - path.size(), '/');
    }
}

bool is_of_build(const model::Case& one, std::string_view build)
{
    const model::Scalar* const value = model::find_value(one.params, scenarios::build_axis);
    return value != nullptr && model::to_text(*value) == build;
}

std::vector<model::Param> other_params(const model::Case& one)
{
    std::vector<model::Param> params = one.params;
    std::erase_if(params, [](const model::Param& param) { return param.name == scenarios::build_axis; });
    return params;
}

}  // namespace

void spell_alike(std::vector<std::string>& base, std::vector<std::string>& candidate)
{
    const std::vector<std::string*> of_base = paths_among(base);
    const std::vector<std::string*> of_candidate = paths_among(candidate);
    for (std::size_t i = 0; i < std::min(of_base.size(), of_candidate.size()); ++i) {
        const std::size_t length = std::max(of_base[i]->size(), of_candidate[i]->size());
        lengthen(*of_base[i], length);
        lengthen(*of_candidate[i], length);
    }
}

void call_builds_alike(model::Plan& plan)
{
    for (model::Case& base : plan.cases) {
        if (!base.command() || !is_of_build(base, scenarios::base_build)) {
            continue;
        }
        const std::vector<model::Param> params = other_params(base);
        const auto found = std::ranges::find_if(plan.cases, [&](const model::Case& other) {
            return other.command() && is_of_build(other, scenarios::candidate_build) && other_params(other) == params;
        });
        if (found != plan.cases.end()) {
            spell_alike(base.command()->run, found->command()->run);
        }
    }
}

}  // namespace memsweep::app
