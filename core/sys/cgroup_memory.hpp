// The memory limits of this process's control group and of all groups above it.
//
// Units    bytes.
// Sources  /proc/self/cgroup and /proc/self/mountinfo give the directories of the groups.
//          v1: memory.limit_in_bytes, memory.usage_in_bytes, total_inactive_file of memory.stat.
//          v2: memory.max, memory.high, memory.current, inactive_file of memory.stat.
//          A hybrid system has the memory controller in v1 or in v2, so both are read.
// Errors   none: a limit that cannot be read counts as absent. In a container only the mounted levels are seen.
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
    std::optional<std::uint64_t> limit_bytes;        // above it, the out-of-memory killer acts; absent: no limit is set
    std::optional<std::uint64_t> slow_from_bytes{};  // memory.high, above which the kernel slows tasks down
    // How much more memory may be charged before limit_bytes or slow_from_bytes is reached. Page cache that the kernel
    // can drop immediately does not count as charged. Absent: neither limit is set.
    std::optional<std::uint64_t> headroom_bytes;
};

struct CgroupMemory {
    std::string version;              // the mounted cgroup versions: v1, v2, hybrid, none
    std::vector<CgroupLevel> levels;  // from this process's group upwards
};

// `root`, here and in the functions below, is the folder that contains proc/ and sys/. It ends with a slash.
[[nodiscard]] CgroupMemory cgroup_memory(const std::string& root);

// Returns the smallest limit_bytes of all levels; absent: no level has a limit.
[[nodiscard]] std::optional<std::uint64_t> tightest_limit(const CgroupMemory& memory);

// How many processes the out-of-memory killer has killed: in this process's control group, and on the whole machine.
//
// Sources  oom_kill of memory.events (v2) or memory.oom_control (v1), and of /proc/vmstat (Linux 4.13).
struct OomKills {
    std::uint64_t in_group{};
    std::uint64_t on_machine{};
};
[[nodiscard]] OomKills oom_kills(const std::string& root);

// A mounted cgroup hierarchy.
//
// Sources  /proc/self/mountinfo: mount root, mount point, file system type and options, blanks escaped as \040;
//          /proc/self/cgroup: one path per hierarchy, seen from this process's cgroup namespace.
struct CgroupMount {
    bool v2{};
    bool memory{};      // v1 only: this is the hierarchy of the memory controller
    std::string root;   // the group at the mount point: "/", or a container's group
    std::string point;  // the mount point, without a slash at its end
};

[[nodiscard]] std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// Returns the path of this process's group in the v2 hierarchy, or (`v2` false) in the hierarchy of v1's memory
// controller. Absent: the text lists no such hierarchy.
[[nodiscard]] std::optional<std::string> cgroup_path(std::string_view proc_self_cgroup, bool v2);

// Returns the directory of group `path`, relative to the mount point: "" or "/a/b". If `path` is outside the mounted
// part, for example because it belongs to another namespace, the result is "": the mount point is the nearest visible
// group.
[[nodiscard]] std::string directory_in_mount(const CgroupMount& mount, std::string_view path);

// Reclaim: the kernel takes memory away from this process's control group.
//
// Units    bytes.
// Sources  memory.reclaim of cgroup v2 (Linux 5.19), of this process's group or of the nearest group above it that has
//          this file. The kernel reclaims memory of any process in the group: page cache first, and anonymous memory
//          only if there is swap.
// Errors   not_supported: no group has the file (cgroup v1, or no memory controller); os: the file is not writable.

// The path of memory.reclaim, checked to be writable.
[[nodiscard]] base::Expected<std::string> cgroup_reclaim_file(const std::string& root);

// Writes to `file` to ask the kernel to reclaim `bytes` bytes. Returns true if the kernel reclaimed all of them, false
// if it reclaimed fewer or the file cannot be written.
[[nodiscard]] bool reclaim_from_cgroup(const std::string& file, std::uint64_t bytes) noexcept;

// Pressure: how scarce memory and other resources are.
//
// Cost     reads 2 to 12 small files.

// The percentage of the last ten seconds in which at least one task waited for `resource`: "cpu", "memory" or "io". The
// source is avg10 of "some" in /proc/pressure. Absent: the kernel does not measure this.
[[nodiscard]] std::optional<double> stalled_percent(const std::string& root, const std::string& resource);

// The used share, from 0 to 1, of the control group that is closest to its limit: 1 - headroom_bytes / limit, where the
// limit is limit_bytes or slow_from_bytes, whichever is smaller.
// Absent: no group has a limit.
[[nodiscard]] std::optional<double> cgroup_share_used(const std::string& root);

}  // namespace memsweep::sys
