// How short of memory the machine and this process's control group are.
//
// Units    percent of time; a share from 0 to 1.
// Sources  avg10 of "some" in /proc/pressure/memory; memory.current over memory.max of the control groups.
// Cost     reads two to a dozen small files.
// Errors   absent: the kernel keeps no pressure figures, or no control group has a limit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memsweep::sys {

// Of the last ten seconds, how much some task waited for memory.
[[nodiscard]] std::optional<double> stalled_percent(std::string_view pressure_text);
[[nodiscard]] std::optional<double> memory_stalled_percent(const std::string& root);

// Of the tightest limit above this process, how much is used.
[[nodiscard]] std::optional<double> cgroup_share_used(const std::string& root);

}  // namespace memsweep::sys
