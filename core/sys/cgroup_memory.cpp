#include "core/sys/cgroup_memory.hpp"

#include <algorithm>
#include <string_view>

#include <unistd.h>

#include "core/sys/cgroup_mounts.hpp"
#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

using Bytes = std::optional<std::uint64_t>;

// v1 has no word for "no limit" but the highest page-aligned number; v2 says "max", which is no number.
Bytes read_limit(const std::string& path)
{
    constexpr std::uint64_t no_limit = 1ULL << 62;
    const Bytes limit = parse_count(read_word(path));
    return limit && *limit < no_limit ? limit : std::nullopt;
}

Bytes tighter(Bytes a, Bytes b)
{
    return a && b ? std::min(a, b) : a ? a : b;
}

// What is charged and would have to be swapped: page cache that nobody has used lately is dropped without harm.
Bytes headroom(Bytes limit, Bytes used, Bytes droppable)
{
    if (!limit || !used) {
        return limit;
    }
    const std::uint64_t held = *used - std::min(*used, droppable.value_or(0));
    return *limit - std::min(*limit, held);
}

CgroupLevel read_level(const std::string& directory, bool v2)
{
    const std::string stat = read_kernel_text(directory + "/memory.stat").value_or("");
    CgroupLevel level{directory, read_limit(directory + (v2 ? "/memory.max" : "/memory.limit_in_bytes")), std::nullopt};
    const Bytes used = parse_count(read_word(directory + (v2 ? "/memory.current" : "/memory.usage_in_bytes")));
    const Bytes stalls_at = v2 ? read_limit(directory + "/memory.high") : std::nullopt;
    level.headroom_bytes = headroom(tighter(level.limit_bytes, stalls_at), used,
                                    find_counter(stat, v2 ? "inactive_file" : "total_inactive_file"));
    return level;
}

// Of several mounts of one hierarchy the one that leads deepest; of equals the last, which covers the others.
const CgroupMount* best_mount(const std::vector<CgroupMount>& mounts, bool v2, std::string_view path)
{
    const CgroupMount* best = nullptr;
    for (const CgroupMount& mount : mounts) {
        if (mount.v2 == v2 && (v2 || mount.memory)) {
            const bool deeper =
                best == nullptr || directory_in_mount(mount, path).size() >= directory_in_mount(*best, path).size();
            best = deeper ? &mount : best;
        }
    }
    return best;
}

void add_levels(const std::string& root, const std::vector<CgroupMount>& mounts, bool v2, CgroupMemory& memory)
{
    const auto path = cgroup_path(read_kernel_text(root + "proc/self/cgroup").value_or(""), v2);
    const CgroupMount* const mount = path ? best_mount(mounts, v2, *path) : nullptr;
    if (mount == nullptr) {
        return;
    }
    const std::string point = root + mount->point.substr(1);
    for (std::string below = directory_in_mount(*mount, *path);; below.erase(below.rfind('/'))) {
        if (::access((point + below).c_str(), F_OK) == 0) {
            memory.levels.push_back(read_level(point + below, v2));
        }
        if (below.empty()) {
            return;
        }
    }
}

std::string version_of(const std::vector<CgroupMount>& mounts)
{
    const bool v2 = std::ranges::any_of(mounts, &CgroupMount::v2);
    const bool v1 = !std::ranges::all_of(mounts, &CgroupMount::v2);
    return v1 && v2 ? "hybrid" : v1 ? "v1" : v2 ? "v2" : "none";
}

}  // namespace

CgroupMemory cgroup_memory(const std::string& root)
{
    const auto mounts = parse_cgroup_mounts(read_kernel_text(root + "proc/self/mountinfo").value_or(""));
    CgroupMemory memory{version_of(mounts), {}};
    add_levels(root, mounts, false, memory);
    add_levels(root, mounts, true, memory);
    return memory;
}

std::optional<std::uint64_t> tightest_limit(const CgroupMemory& memory)
{
    Bytes tightest;
    for (const CgroupLevel& level : memory.levels) {
        tightest = tighter(tightest, level.limit_bytes);
    }
    return tightest;
}

}  // namespace memsweep::sys
