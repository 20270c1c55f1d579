// The memory limits that control groups put over this process: its own group's and those of all groups above.
//
// Units    bytes.
// Sources  /proc/self/cgroup and /proc/self/mountinfo say where the groups lie. v1: memory.limit_in_bytes,
//          memory.usage_in_bytes, total_inactive_file of memory.stat. v2: memory.max, memory.high, memory.current,
//          inactive_file. On a hybrid system memory belongs to one of the two; both are looked at.
// Errors   none: what cannot be read limits nothing. In a container only the levels that are mounted can be seen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memsweep::sys {

struct CgroupLevel {
    std::string directory;
    std::optional<std::uint64_t> limit_bytes;     // beyond it the out-of-memory killer comes; absent: none is set
    std::optional<std::uint64_t> headroom_bytes;  // to that limit or to memory.high, beyond which it stalls
};

struct CgroupMemory {
    std::string version;              // v1, v2, hybrid, none: what is mounted
    std::vector<CgroupLevel> levels;  // from this process's group upwards
};

// `root` ends with a slash.
[[nodiscard]] CgroupMemory cgroup_memory(const std::string& root);

[[nodiscard]] std::optional<std::uint64_t> tightest_limit(const CgroupMemory& memory);

}  // namespace memsweep::sys
