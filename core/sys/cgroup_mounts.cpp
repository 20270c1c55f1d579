#include "core/sys/cgroup_mounts.hpp"

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
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
        const std::string_view one = list.substr(0, list.find(','));
        if (one == word) {
            return true;
        }
        list.remove_prefix(one.size() == list.size() ? one.size() : one.size() + 1);
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

}  // namespace memsweep::sys
