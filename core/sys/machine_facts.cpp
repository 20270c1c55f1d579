#include "core/sys/machine_facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/sys/cgroup_memory.hpp"
#include "core/sys/damon.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/proc_text.hpp"
#include "core/sys/virtualisation.hpp"

namespace memsweep::sys {
namespace {

constexpr const char* unknown = "unknown";

std::string with_slash(const std::string& root)
{
    return root.ends_with('/') ? root : root + "/";
}

std::string or_unknown(std::string text)
{
    return text.empty() ? unknown : std::move(text);
}

// x86 and many others name the model; arm64 gives the numbers of its maker and part only.
std::string cpu_model(const std::string& cpuinfo)
{
    for (const char* const field : {"model name", "cpu model", "Model", "cpu", "Processor"}) {
        if (const auto value = find_field(cpuinfo, field); value && !value->empty()) {
            return std::string{*value};
        }
    }
    const auto maker = find_field(cpuinfo, "CPU implementer");
    const auto part = find_field(cpuinfo, "CPU part");
    if (!maker || !part) {
        return unknown;
    }
    return std::string{"arm64 implementer "}.append(*maker).append(" part ").append(*part);
}

std::uint32_t cores_online(const std::string& root, std::string_view cpuinfo)
{
    if (const auto online = count_list(read_word(root + "sys/devices/system/cpu/online"))) {
        return static_cast<std::uint32_t>(*online);
    }
    std::uint32_t processors = 0;
    while (!cpuinfo.empty()) {
        std::string_view line = take_line(cpuinfo);
        processors += take_word(line) == "processor" ? 1U : 0U;
    }
    return processors;
}

// A kernel without NUMA shows no such folder: then all memory is one node.
std::uint32_t numa_nodes(const std::string& root)
{
    return static_cast<std::uint32_t>(count_list(read_word(root + "sys/devices/system/node/online")).value_or(1));
}

// The chosen word of "always [madvise] never".
std::string bracketed(const std::string& text)
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open);
    return close == std::string::npos ? unknown : text.substr(open + 1, close - open - 1);
}

std::string overcommit_name(std::string_view mode)
{
    return mode == "0" ? "heuristic" : mode == "1" ? "always" : mode == "2" ? "never" : unknown;
}

// setarch -R switches it off for one process and its children.
std::string aslr_name(const std::string& root)
{
    constexpr unsigned long addr_no_randomize = 0x0040000;
    const std::string personality = read_word(root + "proc/self/personality");
    if ((std::strtoul(personality.c_str(), nullptr, 16) & addr_no_randomize) != 0) {
        return "off";
    }
    const std::string mode = read_word(root + "proc/sys/kernel/randomize_va_space");
    return mode == "0" ? "off" : mode == "1" ? "partial" : mode == "2" ? "full" : unknown;
}

}  // namespace

model::Machine machine_facts(const std::string& root)
{
    const std::string top = with_slash(root);
    const std::string cpuinfo = read_kernel_text(top + "proc/cpuinfo").value_or("");
    const std::string meminfo = read_kernel_text(top + "proc/meminfo").value_or("");
    const CgroupMemory cgroup = cgroup_memory(top);
    model::Machine machine;
    machine.host = or_unknown(read_word(top + "proc/sys/kernel/hostname"));
    machine.kernel = or_unknown(std::string{
        trimmed(read_word(top + "proc/sys/kernel/ostype") + " " + read_word(top + "proc/sys/kernel/osrelease"))});
    machine.cpu = cpu_model(cpuinfo);
    machine.cores = cores_online(top, cpuinfo);
    machine.numa_nodes = numa_nodes(top);
    machine.page_size = page_size();
    machine.thp = bracketed(read_word(top + "sys/kernel/mm/transparent_hugepage/enabled"));
    machine.overcommit = overcommit_name(read_word(top + "proc/sys/vm/overcommit_memory"));
    machine.memory_bytes = find_kib_field(meminfo, "MemTotal").value_or(0);
    machine.cgroup_memory_max = tightest_limit(cgroup);
    machine.cgroup_version = cgroup.version;
    machine.governor = read_word(top + "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    machine.aslr = aslr_name(top);
    machine.swap_bytes = find_kib_field(meminfo, "SwapTotal").value_or(0);
    machine.virtualisation = virtualisation(top, cpuinfo);
    machine.damon = damon(top);
    return machine;
}

std::uint64_t available_memory(const std::string& root)
{
    const std::string top = with_slash(root);
    const std::string meminfo = read_kernel_text(top + "proc/meminfo").value_or("");
    std::uint64_t available = find_kib_field(meminfo, "MemAvailable").value_or(0);
    for (const CgroupLevel& level : cgroup_memory(top).levels) {
        available = std::min(available, level.headroom_bytes.value_or(available));
    }
    return available;
}

std::uint64_t huge_page_bytes(const std::string& root)
{
    const std::string top = with_slash(root);
    return parse_count(read_word(top + "sys/kernel/mm/transparent_hugepage/hpage_pmd_size")).value_or(0);
}

}  // namespace memsweep::sys
