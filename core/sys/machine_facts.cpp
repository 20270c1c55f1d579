#include "core/sys/machine_facts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/sys/cgroup_memory.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/processors.hpp"

namespace memsweep::sys {
namespace {

constexpr const char* unknown_fact = "unknown";

std::string or_unknown(std::string text)
{
    return text.empty() ? unknown_fact : std::move(text);
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
        return unknown_fact;
    }
    return std::string{"arm64 implementer "}.append(*maker).append(" part ").append(*part);
}

std::uint32_t cores_online(const std::string& root, std::string_view cpuinfo)
{
    if (const auto online = online_processors(root)) {
        return *online;
    }
    std::uint32_t processors = 0;
    while (!cpuinfo.empty()) {
        std::string_view line = take_line(cpuinfo);
        processors += take_word(line) == "processor" ? 1U : 0U;
    }
    return processors;
}

// The chosen word of "always [madvise] never".
std::string bracketed(const std::string& text)
{
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open);
    return close == std::string::npos ? unknown_fact : text.substr(open + 1, close - open - 1);
}

std::string overcommit_name(std::string_view mode)
{
    return mode == "0" ? "heuristic" : mode == "1" ? "always" : mode == "2" ? "never" : unknown_fact;
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
    return mode == "0" ? "off" : mode == "1" ? "partial" : mode == "2" ? "full" : unknown_fact;
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
    machine.numa_nodes = online_nodes(top).value_or(1);  // a kernel without NUMA lists none
    machine.page_size = page_size();
    machine.thp = bracketed(read_word(top + "sys/kernel/mm/transparent_hugepage/enabled"));
    machine.overcommit = overcommit_name(read_word(top + "proc/sys/vm/overcommit_memory"));
    machine.memory_bytes = find_kib_field(meminfo, "MemTotal").value_or(0);
    machine.cgroup_memory_max = tightest_limit(cgroup);
    machine.cgroup_version = cgroup.version;
    machine.governor = governor(0, top);
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
    return base::parse_number(read_word(top + "sys/kernel/mm/transparent_hugepage/hpage_pmd_size")).value_or(0);
}

namespace {

struct Sign {
    std::string_view text;
    std::string_view name;
};

// In "<sys_vendor> <product_name>", the first that fits.
constexpr std::array<Sign, 17> makers{{{"KVM", "kvm"},
                                       {"OpenStack", "kvm"},
                                       {"QEMU", "qemu"},
                                       {"Bochs", "bochs"},
                                       {"VMware", "vmware"},
                                       {"VMW", "vmware"},
                                       {"VirtualBox", "virtualbox"},
                                       {"innotek", "virtualbox"},
                                       {"Xen", "xen"},
                                       {"Virtual Machine", "hyper-v"},
                                       {"Parallels", "parallels"},
                                       {"Apple Virtualization", "apple"},
                                       {"Amazon EC2", "amazon"},
                                       {"Google Compute Engine", "google"},
                                       {"Alibaba Cloud", "alibaba"},
                                       {"DigitalOcean", "digitalocean"},
                                       {"Hetzner", "hetzner"}}};

constexpr std::array<Sign, 5> container_paths{{{"docker", "docker"},
                                               {"kubepods", "kubernetes"},
                                               {"libpod", "podman"},
                                               {"lxc", "lxc"},
                                               {"machine.slice", "nspawn"}}};

template <std::size_t count>
std::string first_sign(const std::array<Sign, count>& signs, std::string_view text)
{
    for (const Sign& sign : signs) {
        if (text.find(sign.text) != std::string_view::npos) {
            return std::string{sign.name};
        }
    }
    return "";
}

// Empty where cpus have no such flag at all: only x86 lists "flags".
std::optional<bool> hypervisor_flag(std::string_view cpuinfo)
{
    auto flags = find_field(cpuinfo, "flags");
    while (flags && !flags->empty()) {
        if (take_word(*flags) == "hypervisor") {
            return true;
        }
    }
    return flags ? std::optional{false} : std::nullopt;
}

std::string hypervisor(const std::string& root, std::string_view cpuinfo)
{
    if (read_word(root + "proc/sys/kernel/osrelease").find("icrosoft") != std::string::npos) {
        return "wsl";
    }
    if (std::string type = read_word(root + "sys/hypervisor/type"); !type.empty()) {
        return type;
    }
    const auto flag = hypervisor_flag(cpuinfo);
    const std::string product = read_word(root + "sys/class/dmi/id/product_name");
    if (flag == false || product.ends_with(".metal")) {  // the maker of the cloud's bare machines is the same
        return "";
    }
    std::string name = first_sign(makers, read_word(root + "sys/class/dmi/id/sys_vendor") + " " + product);
    return name.empty() && flag == true ? "hypervisor" : name;
}

std::string container(const std::string& root)
{
    if (::access((root + ".dockerenv").c_str(), F_OK) == 0) {
        return "docker";
    }
    if (::access((root + "run/.containerenv").c_str(), F_OK) == 0) {
        return "podman";
    }
    if (std::string name = read_word(root + "run/systemd/container"); !name.empty()) {
        return name;
    }
    return first_sign(container_paths, read_kernel_text(root + "proc/1/cgroup").value_or(""));
}

}  // namespace

std::string virtualisation(const std::string& root, std::string_view cpuinfo)
{
    const std::string machine = hypervisor(root, cpuinfo);
    const std::string box = container(root);
    if (machine.empty() && box.empty()) {
        return "none";
    }
    return machine + (machine.empty() || box.empty() ? "" : "+") + box;
}

namespace {

// sysfs numbers its objects from 0 without gaps. Names are asked for one by one: the count is readable by root only.
std::vector<std::string> numbered(const std::string& directory)
{
    constexpr int most = 1024;
    std::vector<std::string> paths;
    for (int i = 0; i < most; ++i) {
        std::string path = fmt::format("{}/{}", directory, i);
        if (::access(path.c_str(), F_OK) != 0) {
            break;
        }
        paths.push_back(std::move(path));
    }
    return paths;
}

std::string context_text(const std::string& context)
{
    std::vector<std::string> actions;
    for (const std::string& scheme : numbered(context + "/schemes")) {
        actions.push_back(read_word(scheme + "/action"));
    }
    const std::string operations = read_word(context + "/operations");
    return actions.empty() ? operations : fmt::format("{}: {}", operations, fmt::join(actions, ", "));
}

}  // namespace

std::string damon(const std::string& root)
{
    std::vector<std::string> active;
    for (const std::string& kdamond : numbered(root + "sys/kernel/mm/damon/admin/kdamonds")) {
        const auto state = read_kernel_text(kdamond + "/state");
        if (!state) {
            return "unknown";
        }
        if (trimmed(*state) == "on") {
            for (const std::string& context : numbered(kdamond + "/contexts")) {
                active.push_back(context_text(context));
            }
        }
    }
    for (const char* const module : {"reclaim", "lru_sort"}) {
        if (read_word(fmt::format("{}sys/module/damon_{}/parameters/enabled", root, module)) == "Y") {
            active.emplace_back(module);
        }
    }
    return active.empty() ? "off" : fmt::format("{}", fmt::join(active, "; "));
}

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
