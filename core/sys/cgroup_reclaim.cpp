#include "core/sys/cgroup_reclaim.hpp"

#include <array>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

#include "core/sys/cgroup_memory.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

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

}  // namespace memsweep::sys
