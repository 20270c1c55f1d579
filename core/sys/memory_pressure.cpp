#include "core/sys/memory_pressure.hpp"

#include <algorithm>
#include <charconv>

#include "core/sys/cgroup_memory.hpp"
#include "core/sys/proc_text.hpp"

namespace memsweep::sys {

std::optional<double> stalled_percent(std::string_view pressure_text)
{
    constexpr std::string_view key = "avg10=";
    while (!pressure_text.empty()) {
        std::string_view line = take_line(pressure_text);
        if (take_word(line) != "some") {
            continue;
        }
        const std::string_view word = take_word(line);
        double percent = 0;
        if (word.starts_with(key) &&
            std::from_chars(word.data() + key.size(), word.data() + word.size(), percent).ec == std::errc{}) {
            return percent;
        }
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<double> memory_stalled_percent(const std::string& root)
{
    const auto text = read_kernel_text(root + "proc/pressure/memory");
    return text ? stalled_percent(*text) : std::nullopt;
}

std::optional<double> cgroup_share_used(const std::string& root)
{
    std::optional<double> most;
    for (const CgroupLevel& level : cgroup_memory(root).levels) {
        if (level.limit_bytes && level.headroom_bytes && *level.limit_bytes != 0) {
            const double free = static_cast<double>(*level.headroom_bytes) / static_cast<double>(*level.limit_bytes);
            most = std::max(most.value_or(0), 1 - free);
        }
    }
    return most;
}

}  // namespace memsweep::sys
