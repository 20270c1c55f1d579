#include "core/sys/process_watch.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>

#include <fmt/format.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {

ProcessWatch::ProcessWatch(UniqueFd status) noexcept : status_{std::move(status)} {}

base::Expected<ProcessWatch> ProcessWatch::open(pid_t pid)
{
    const std::string path = fmt::format("/proc/{}/status", pid);
    UniqueFd status{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!status.valid()) {
        return base::fail(base::os_error("open", errno, path));
    }
    return ProcessWatch{std::move(status)};
}

std::optional<std::uint64_t> ProcessWatch::working_set_bytes() noexcept
{
    std::array<char, 8192> buffer;
    const auto text = pread_text(status_.get(), buffer);
    const auto rss = text ? find_kib_field(*text, "VmRSS") : std::nullopt;
    if (!rss) {
        return std::nullopt;  // reaped: ESRCH; a zombie: no memory, so no VmRSS
    }
    return *rss + find_kib_field(*text, "HugetlbPages").value_or(0);
}

}  // namespace memsweep::sys
