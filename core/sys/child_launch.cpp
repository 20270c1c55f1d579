#include "core/sys/child_launch.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

namespace memsweep::sys {
namespace {

bool has_nul(std::string_view text)
{
    return text.find('\0') != std::string_view::npos;
}

base::Expected<void> check(const SpawnOptions& options)
{
    using base::ErrorCode;
    if (options.argv.empty() || options.argv.front().empty()) {
        return base::fail(ErrorCode::invalid_input, "no program to run");
    }
    if (std::ranges::any_of(options.argv, has_nul)) {
        return base::fail(ErrorCode::invalid_input, "an argument holds a NUL character", options.argv.front());
    }
    for (const auto& [name, value] : options.environment) {
        if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
            return base::fail(ErrorCode::invalid_input, fmt::format("'{}' cannot be an environment variable", name),
                              options.argv.front());
        }
    }
    std::set<int> numbers;
    for (const auto& [ours, theirs] : options.inherit) {
        if (ours < 0 || theirs < 0 || !numbers.insert(theirs).second) {
            return base::fail(ErrorCode::invalid_input,
                              fmt::format("descriptor {} cannot be {} in the child", ours, theirs),
                              options.argv.front());
        }
    }
    return {};
}

std::vector<std::string> merged_environment(const SpawnOptions& options)
{
    std::map<std::string, std::string> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text{*entry};
        const std::size_t end = text.find('=', 1);
        if (end != std::string_view::npos) {
            variables.insert_or_assign(std::string{text.substr(0, end)}, std::string{text.substr(end + 1)});
        }
    }
    for (const std::string& name : options.without) {
        variables.erase(name);
    }
    for (const auto& [name, value] : options.environment) {
        variables.insert_or_assign(name, value);
    }
    std::vector<std::string> merged;
    merged.reserve(variables.size());
    for (const auto& [name, value] : variables) {
        merged.push_back(fmt::format("{}={}", name, value));
    }
    return merged;
}

// execve takes char*, and writes to none of them.
std::vector<char*> pointers(const std::vector<std::string>& texts)
{
    std::vector<char*> list;
    list.reserve(texts.size() + 1);
    for (const std::string& text : texts) {
        list.push_back(const_cast<char*>(text.c_str()));
    }
    list.push_back(nullptr);
    return list;
}

}  // namespace

base::Expected<Launch> prepare_launch(const SpawnOptions& options)
{
    if (const auto fine = check(options); !fine) {
        return base::fail(fine.error());
    }
    Launch launch;
    launch.argv = pointers(options.argv);
    launch.variables = merged_environment(options);
    launch.environment = pointers(launch.variables);
    launch.inherit = options.inherit;
    launch.lifted.resize(options.inherit.size());
    launch.first_free_fd = 3;
    for (const auto& [ours, theirs] : options.inherit) {
        launch.first_free_fd = std::max(launch.first_free_fd, theirs + 1);
    }
    launch.parent = ::getpid();
    return launch;
}

}  // namespace memsweep::sys
