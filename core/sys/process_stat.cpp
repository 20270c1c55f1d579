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

}  // namespace memsweep::sys
