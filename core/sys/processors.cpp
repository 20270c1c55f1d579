#include "core/sys/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

std::optional<std::uint32_t> length_of_list(const std::string& path)
{
    const auto list = parse_list(read_word(path));
    return list && !list->empty() ? std::optional{static_cast<std::uint32_t>(list->size())} : std::nullopt;
}

}  // namespace

std::string system_device_path(const std::string& name, const std::string& root)
{
    return with_slash(root) + "sys/devices/system/" + name;
}

std::optional<std::uint32_t> online_processors(const std::string& root)
{
    return length_of_list(system_device_path("cpu/online", root));
}

std::optional<std::uint32_t> online_nodes(const std::string& root)
{
    return length_of_list(system_device_path("node/online", root));
}

std::optional<std::vector<std::uint32_t>> processors_of_node(std::uint32_t node, const std::string& root)
{
    const auto list = read_kernel_text(system_device_path(fmt::format("node/node{}/cpulist", node), root));
    return list ? parse_list(trimmed(*list)) : std::nullopt;
}

std::string governor(std::uint32_t cpu, const std::string& root)
{
    return read_word(system_device_path(fmt::format("cpu/cpu{}/cpufreq/scaling_governor", cpu), root));
}

// Offline processors have none. Processors are numbered with gaps where some are missing.
std::set<std::string> governors(const std::string& root)
{
    constexpr std::uint32_t max_cpus = 4096;
    constexpr std::uint32_t longest_gap = 64;
    std::set<std::string> found;
    for (std::uint32_t cpu = 0, gap = 0; cpu < max_cpus && gap < longest_gap; ++cpu) {
        std::string one = governor(cpu, root);
        gap = one.empty() ? gap + 1 : 0;
        if (!one.empty()) {
            found.insert(std::move(one));
        }
    }
    return found;
}

std::optional<Turbo> turbo(const std::string& root)
{
    constexpr const char* intel = "cpu/intel_pstate/no_turbo";
    constexpr const char* generic = "cpu/cpufreq/boost";
    if (const std::string no_turbo = read_word(system_device_path(intel, root)); !no_turbo.empty()) {
        return Turbo{no_turbo == "0", "echo 1 | sudo tee " + system_device_path(intel)};
    }
    if (const std::string boost = read_word(system_device_path(generic, root)); !boost.empty()) {
        return Turbo{boost != "0", "echo 0 | sudo tee " + system_device_path(generic)};
    }
    return std::nullopt;
}

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
