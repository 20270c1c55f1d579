#include "core/sys/address_space.hpp"

#include <algorithm>

#include <sys/resource.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
namespace {

std::optional<std::uint64_t> left_of(__rlimit_resource_t limit, std::uint64_t used)
{
    rlimit found{};
    if (::getrlimit(limit, &found) != 0 || found.rlim_cur == RLIM_INFINITY) {
        return std::nullopt;
    }
    return found.rlim_cur - std::min<std::uint64_t>(found.rlim_cur, used);
}

}  // namespace

std::optional<std::uint64_t> address_space_left()
{
    const std::string status = read_kernel_text("/proc/self/status").value_or("");
    const auto space = left_of(RLIMIT_AS, find_kib_field(status, "VmSize").value_or(0));
    const auto data = left_of(RLIMIT_DATA, find_kib_field(status, "VmData").value_or(0));
    return space && data ? std::min(*space, *data) : space ? space : data;
}

}  // namespace memsweep::sys
