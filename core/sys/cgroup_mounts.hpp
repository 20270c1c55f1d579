// Where the control groups of this process lie in the file system.
//
// Sources  /proc/self/mountinfo: mount root, mount point, file system type and options, blanks escaped as \040;
//          /proc/self/cgroup: one path per hierarchy, seen from this process's cgroup namespace.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace memsweep::sys {

struct CgroupMount {
    bool v2{};
    bool memory{};      // v1: the memory controller is mounted here
    std::string root;   // the part of the hierarchy that is mounted: "/", or a container's group
    std::string point;  // without a slash at its end
};

[[nodiscard]] std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// This process's path in the hierarchy of v1's memory controller, or in v2's.
[[nodiscard]] std::optional<std::string> cgroup_path(std::string_view proc_self_cgroup, bool v2);

// The directory of the group `path` below the mount, relative to the mount point: "" or "/a/b". A path outside the
// mounted part (another namespace's view) is answered with the mount point: the nearest group that can be seen.
[[nodiscard]] std::string directory_in_mount(const CgroupMount& mount, std::string_view path);

}  // namespace memsweep::sys
