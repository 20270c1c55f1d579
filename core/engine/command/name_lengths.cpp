#include "core/engine/command/name_lengths.hpp"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "core/engine/command/supervision.hpp"
#include "core/sys/allocator_library.hpp"

namespace memsweep::engine {
namespace {

namespace fs = std::filesystem;

// 0: there is no such file.
std::uint64_t resolved_length(const std::string& path)
{
    std::error_code problem;
    const fs::path resolved = fs::canonical(path, problem);
    return problem ? 0 : resolved.native().size();
}

std::uint64_t environment_length(const model::CommandSpec& command)
{
    std::uint64_t length = 0;
    for (char* const* variable = ::environ; variable != nullptr && *variable != nullptr; ++variable) {
        length += std::string_view{*variable}.size();
    }
    for (const auto& [name, value] : command.environment) {
        length += name.size() + 1 + value.size();
    }
    return length;
}

}  // namespace

model::NameLengths name_lengths(const model::CommandSpec& command, const std::vector<std::string>& added)
{
    model::NameLengths lengths{.folder = resolved_length(command.cwd.empty() ? "." : command.cwd),
                               .environment = environment_length(command)};
    for (const std::string& word : added) {
        lengths.environment += word.size();
    }
    bool is_program = !command.shell;
    for (const std::string& word : command.run) {
        const bool is_path = word.find('/') != std::string::npos;
        if (is_program || is_path) {
            lengths.words += word.size();
            lengths.paths += resolved_length(is_path ? path_from(command.cwd, word) : sys::find_program(word));
        }
        is_program = false;
    }
    return lengths;
}

}  // namespace memsweep::engine
