#include "core/sys/affinity.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>

namespace memsweep::sys {
namespace {

int run_on(const std::vector<std::uint32_t>& cpus)
{
    const std::uint32_t all = *std::ranges::max_element(cpus) + 1;
    cpu_set_t* const set = CPU_ALLOC(all);
    const std::size_t bytes = CPU_ALLOC_SIZE(all);
    CPU_ZERO_S(bytes, set);
    for (const std::uint32_t cpu : cpus) {
        CPU_SET_S(cpu, bytes, set);
    }
    const int refused = ::sched_setaffinity(0, bytes, set) == 0 ? 0 : errno;
    CPU_FREE(set);
    return refused;
}

}  // namespace

std::vector<std::uint32_t> allowed_cpus()
{
    std::vector<std::uint32_t> cpus;
    constexpr int max_cpus = 1 << 14;
    cpu_set_t* const set = CPU_ALLOC(max_cpus);
    const std::size_t bytes = CPU_ALLOC_SIZE(max_cpus);
    if (set != nullptr && ::sched_getaffinity(0, bytes, set) == 0) {
        for (int cpu = 0; cpu < max_cpus; ++cpu) {
            if (CPU_ISSET_S(static_cast<unsigned>(cpu), bytes, set)) {
                cpus.push_back(static_cast<std::uint32_t>(cpu));
            }
        }
    }
    CPU_FREE(set);
    return cpus;
}

base::Expected<void> Affinity::limit_to(const std::vector<std::uint32_t>& cpus)
{
    if (cpus == now_) {
        return {};
    }
    if (before_.empty()) {
        before_ = allowed_cpus();
    }
    if (const int refused = run_on(cpus.empty() ? before_ : cpus); refused != 0) {
        return base::fail(base::os_error("sched_setaffinity", refused));
    }
    now_ = cpus;
    return {};
}

Affinity::~Affinity()
{
    static_cast<void>(limit_to({}));
}

}  // namespace memsweep::sys
