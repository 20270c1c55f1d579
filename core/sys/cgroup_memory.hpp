// The memory limits that control groups put over this process: its own group's and those of all groups above.
//
// Units    bytes.
// Sources  /proc/self/cgroup and /proc/self/mountinfo say where the groups lie. v1: memory.limit_in_bytes,
//          memory.usage_in_bytes, total_inactive_file of memory.stat. v2: memory.max, memory.high, memory.current,
//          inactive_file. On a hybrid system memory belongs to one of the two, so both are read.
// Errors   none: a limit that cannot be read counts as absent. A container shows only the levels that are mounted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

struct CgroupLevel {
    std::string directory;
    std::optional<std::uint64_t> limit_bytes;     // beyond it the out-of-memory killer comes; absent: none is set
    std::optional<std::uint64_t> headroom_bytes;  // to that limit, or to memory.high, beyond which tasks stall
};

struct CgroupMemory {
    std::string version;              // v1, v2, hybrid, none: what is mounted
    std::vector<CgroupLevel> levels;  // from this process's group upwards
};

// `root` ends with a slash.
[[nodiscard]] CgroupMemory cgroup_memory(const std::string& root);

[[nodiscard]] std::optional<std::uint64_t> tightest_limit(const CgroupMemory& memory);

// How often the out-of-memory killer has come: in this process's control group, and on the whole machine.
//
// Sources  oom_kill of memory.events (v2) or memory.oom_control (v1), and of /proc/vmstat (Linux 4.13).
struct OomKills {
    std::uint64_t in_group{};
    std::uint64_t on_machine{};
};
[[nodiscard]] OomKills oom_kills(const std::string& root);

// The places of this process's control groups in the file system.
//
// Sources  /proc/self/mountinfo: mount root, mount point, file system type and options, blanks escaped as \040;
//          /proc/self/cgroup: one path per hierarchy, seen from this process's cgroup namespace.
struct CgroupMount {
    bool v2{};
    bool memory{};      // v1: the memory controller is mounted here
    std::string root;   // the part of the hierarchy that is mounted: "/", or a container's group
    std::string point;  // without a slash at its end
};

[[nodiscard]] std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// This process's path in the hierarchy of v1's memory controller, or in v2's.
[[nodiscard]] std::optional<std::string> cgroup_path(std::string_view proc_self_cgroup, bool v2);

// The directory of the group `path` below the mount, relative to the mount point: "" or "/a/b". For a path outside the
// mounted part (another namespace's view) it is the mount point, which is the nearest group that can be seen.
[[nodiscard]] std::string directory_in_mount(const CgroupMount& mount, std::string_view path);

// Asking this process's control group to give up memory.
//
// Units    bytes.
// Sources  memory.reclaim of cgroup v2 (Linux 5.19), in the group of this process. It takes whatever the group holds:
//          page cache of any of its processes first, anonymous memory only where there is swap.
// Errors   not_supported: there is no such file here (cgroup v1, or no memory controller); os: it cannot be written.

// The file to write to, checked to be writable. `root` ends with a slash.
[[nodiscard]] base::Expected<std::string> cgroup_reclaim_file(const std::string& root);

// True if the kernel reclaimed that many bytes; false if it found fewer.
[[nodiscard]] bool reclaim_from_cgroup(const std::string& file, std::uint64_t bytes) noexcept;

// How short of memory the machine and this process's control group are.
//
// Units    percent of time; a share from 0 to 1.
// Sources  avg10 of "some" in /proc/pressure; memory.current over memory.max of the control groups.
// Cost     reads two to a dozen small files.
// Errors   absent: the kernel keeps no pressure figures, or no control group has a limit.

// How much of the last ten seconds some task waited for this resource: "cpu", "memory" or "io". `root` ends with a
// slash.
[[nodiscard]] std::optional<double> stalled_percent(const std::string& root, const std::string& resource);

// How much of the tightest limit above this process is used.
[[nodiscard]] std::optional<double> cgroup_share_used(const std::string& root);

}  // namespace memsweep::sys
