#include "core/sys/virtualisation.hpp"

#include <array>
#include <optional>

#include <unistd.h>

#include "core/sys/proc_text.hpp"

namespace memsweep::sys {
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

}  // namespace memsweep::sys
