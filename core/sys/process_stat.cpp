#include "core/sys/process_stat.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {

std::optional<ProcessStat> read_process_stat(const std::string& folder)
{
    const auto text = read_kernel_text(folder + "stat");
    const std::size_t name_end = text ? text->rfind(')') : std::string::npos;  // a name may hold any other character
    if (name_end == std::string::npos) {
        return std::nullopt;
    }
    std::string_view rest = std::string_view{*text}.substr(name_end + 1);
    const std::string_view state = take_word(rest);
    enum : std::size_t { ppid = 4, flags = 9, minflt, cminflt, majflt, cmajflt, env_end = 51, fields };
    std::array<std::uint64_t, fields> numbers{};
    for (std::size_t field = ppid; field < fields; ++field) {
        numbers.at(field) = base::parse_number(take_word(rest)).value_or(0);
    }
    return ProcessStat{.state = state.empty() ? '\0' : state.front(),
                       .parent = static_cast<pid_t>(numbers[ppid]),
                       .flags = numbers[flags],
                       .minor_faults = numbers[minflt],
                       .major_faults = numbers[majflt],
                       .children_minor_faults = numbers[cminflt],
                       .children_major_faults = numbers[cmajflt],
                       .env_end = numbers[env_end]};
}

std::optional<std::uint64_t> innermost_number(const std::string& folder)
{
    constexpr std::string_view key = "NSpid:";
    const auto status = read_kernel_text(folder + "status");
    std::string_view rest = status ? std::string_view{*status} : std::string_view{};
    while (!rest.empty()) {
        const std::string_view line = take_line(rest);
        if (line.starts_with(key)) {
            return base::parse_number(line.substr(line.find_last_of(" \t") + 1));
        }
    }
    return std::nullopt;
}

}  // namespace memsweep::sys
