// Whether this machine is a machine: hypervisors and containers change what a page fault costs.
//
// Sources  /sys/hypervisor/type, the makers' names in /sys/class/dmi/id, the "hypervisor" flag of /proc/cpuinfo (x86),
//          "microsoft" in the kernel's release (WSL); for containers /.dockerenv, /run/.containerenv,
//          /run/systemd/container, and the path in /proc/1/cgroup.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::sys {

// "kvm", "vmware", "kvm+docker", "docker", "none"; "hypervisor" for one that gives no name. `root` ends with a slash.
[[nodiscard]] std::string virtualisation(const std::string& root, std::string_view cpuinfo);

}  // namespace memsweep::sys
