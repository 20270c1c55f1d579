#include "core/sys/cgroup_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

using Bytes = std::optional<std::uint64_t>;

// v1 has no word for "no limit" but the highest page-aligned number; v2 says "max", which is no number.
Bytes read_limit(const std::string& path)
{
    constexpr std::uint64_t no_limit = 1ULL << 62;
    const Bytes limit = base::parse_number(read_word(path));
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
    const Bytes used = base::parse_number(read_word(directory + (v2 ? "/memory.current" : "/memory.usage_in_bytes")));
    level.slow_from_bytes = v2 ? read_limit(directory + "/memory.high") : std::nullopt;
    level.headroom_bytes = headroom(tighter(level.limit_bytes, level.slow_from_bytes), used,
                                    find_counter(stat, v2 ? "inactive_file" : "total_inactive_file"));
    return level;
}

std::string place_of(const std::string& root, const CgroupMount& mount)
{
    return root + mount.point.substr(1);
}

// The mount of a hierarchy that leads deepest. Of several that lead as deep it is the last, which covers the others.
// One that this process cannot reach counts only if there is no other.
const CgroupMount* best_mount(const std::string& root, const std::vector<CgroupMount>& mounts, bool v2,
                              std::string_view path)
{
    const CgroupMount* best = nullptr;
    for (const CgroupMount& mount : mounts) {
        const bool is_reached = best == nullptr || ::access(place_of(root, mount).c_str(), X_OK) == 0;
        if (mount.v2 == v2 && (v2 || mount.memory) && is_reached) {
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
    const CgroupMount* const mount = path ? best_mount(root, mounts, v2, *path) : nullptr;
    if (mount == nullptr) {
        return;
    }
    const std::string point = place_of(root, *mount);
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

OomKills oom_kills(const std::string& root)
{
    const auto count_in = [](const std::string& file) {
        return find_counter(read_kernel_text(file).value_or(""), "oom_kill").value_or(0);
    };
    const CgroupMemory memory = cgroup_memory(root);
    OomKills kills{.on_machine = count_in(root + "proc/vmstat")};
    if (!memory.levels.empty()) {
        const std::string& group = memory.levels.front().directory;
        kills.in_group = count_in(group + "/memory.events") + count_in(group + "/memory.oom_control");
    }
    return kills;
}

std::optional<std::uint64_t> tightest_limit(const CgroupMemory& memory)
{
    Bytes tightest;
    for (const CgroupLevel& level : memory.levels) {
        tightest = tighter(tightest, level.limit_bytes);
    }
    return tightest;
}

namespace {

bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

// "\040" for a blank, and so on.
std::string unescaped(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
            is_octal(text[i + 3])) {
            plain.push_back(
                static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')));
            i += 3;
        } else {
            plain.push_back(text[i]);
        }
    }
    return plain;
}

bool list_has(std::string_view list, std::string_view word)
{
    while (!list.empty()) {
        if (base::take_until(list, ',') == word) {
            return true;
        }
    }
    return false;
}

// "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
std::optional<CgroupMount> parse_mount(std::string_view line)
{
    for (int skipped = 0; skipped < 3; ++skipped) {
        static_cast<void>(take_word(line));
    }
    CgroupMount mount;
    mount.root = unescaped(take_word(line));
    mount.point = unescaped(take_word(line));
    while (!line.empty() && take_word(line) != "-") {
    }
    const std::string_view type = take_word(line);
    static_cast<void>(take_word(line));
    if ((type != "cgroup" && type != "cgroup2") || !mount.point.starts_with('/')) {
        return std::nullopt;
    }
    mount.v2 = type == "cgroup2";
    mount.memory = !mount.v2 && list_has(line, "memory");
    return mount;
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo)
{
    std::vector<CgroupMount> mounts;
    while (!mountinfo.empty()) {
        if (auto mount = parse_mount(take_line(mountinfo))) {
            mounts.push_back(std::move(*mount));
        }
    }
    return mounts;
}

std::optional<std::string> cgroup_path(std::string_view proc_self_cgroup, bool v2)
{
    while (!proc_self_cgroup.empty()) {
        const std::string_view line = take_line(proc_self_cgroup);
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
        if (second == std::string_view::npos) {
            continue;
        }
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        if (v2 ? line.substr(0, first) == "0" && controllers.empty() : list_has(controllers, "memory")) {
            return std::string{line.substr(second + 1)};
        }
    }
    return std::nullopt;
}

std::string directory_in_mount(const CgroupMount& mount, std::string_view path)
{
    if (mount.root != "/") {
        if (!path.starts_with(mount.root)) {
            return "";
        }
        path.remove_prefix(mount.root.size());  // "/a" of "/ab" leaves "b", which is not inside
    }
    const bool inside = path.starts_with('/') && !path.starts_with("/..") && path != "/";
    return inside ? std::string{path} : "";
}

base::Expected<std::string> cgroup_reclaim_file(const std::string& root)
{
    const CgroupMemory memory = cgroup_memory(root);
    for (const CgroupLevel& level : memory.levels) {
        const std::string file = level.directory + "/memory.reclaim";
        if (::access(file.c_str(), F_OK) != 0) {
            continue;
        }
        if (::access(file.c_str(), W_OK) != 0) {
            return base::fail(base::os_error("open for writing", errno, file));
        }
        return file;
    }
    return base::fail(base::ErrorCode::not_supported,
                      "no control group of this process has memory.reclaim (cgroup v2, Linux 5.19, memory controller "
                      "enabled); cgroups here: " +
                          memory.version);
}

bool reclaim_from_cgroup(const std::string& file, std::uint64_t bytes) noexcept
{
    const UniqueFd fd{::open(file.c_str(), O_WRONLY | O_CLOEXEC)};
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), bytes).ptr;
    const auto length = static_cast<std::size_t>(end - text.data());
    return fd.valid() && ::write(fd.get(), text.data(), length) == static_cast<ssize_t>(length);
}

std::optional<double> stalled_percent(const std::string& root, const std::string& resource)
{
    constexpr std::string_view key = "some avg10=";
    const std::string text = read_kernel_text(root + "proc/pressure/" + resource).value_or("");
    double percent = 0;
    const bool is_read =
        text.starts_with(key) &&
        std::from_chars(text.data() + key.size(), text.data() + text.size(), percent).ec == std::errc{};
    return is_read && std::isfinite(percent) ? std::optional{percent} : std::nullopt;
}

std::optional<double> cgroup_share_used(const std::string& root)
{
    std::optional<double> most;
    for (const CgroupLevel& level : cgroup_memory(root).levels) {
        const Bytes limit = tighter(level.limit_bytes, level.slow_from_bytes);
        if (limit && level.headroom_bytes) {
            const double free =
                *limit == 0 ? 0 : static_cast<double>(*level.headroom_bytes) / static_cast<double>(*limit);
            most = std::max(most.value_or(0), 1 - free);
        }
    }
    return most;
}

}  // namespace memsweep::sys
