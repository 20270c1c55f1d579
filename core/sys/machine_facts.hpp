// Facts of this machine that bear on measured memory costs. Every result records them.
//
// Units    bytes and counts.
// Sources  /proc and /sys below `root`, one per field, named in machine_facts.cpp; the page size alone comes from
//          sysconf. A fact that the system does not show is "unknown", or what model::Machine says.
// Cost     some 50 small files, a few milliseconds: once a run.
// Errors   none: a fact that cannot be read is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/machine.hpp"

namespace memsweep::sys {

// Devices and fingerprint are left empty: they are known elsewhere.
[[nodiscard]] model::Machine machine_facts(const std::string& root = "/");

// The memory that can be touched before something is swapped, throttled or killed: MemAvailable, or less if a control
// group over this process allows less (its limit, less the charged memory that cannot be dropped at once). 0 if
// unknown.
[[nodiscard]] std::uint64_t available_memory(const std::string& root = "/");

// The size of a transparent huge page; 0 when this kernel has none.
[[nodiscard]] std::uint64_t huge_page_bytes(const std::string& root = "/");

// The hypervisor or container around this process, if any: both change the cost of a page fault.
//
// Sources  /sys/hypervisor/type, the makers' names in /sys/class/dmi/id, the "hypervisor" flag of /proc/cpuinfo (x86),
//          "microsoft" in the kernel's release (WSL); for containers /.dockerenv, /run/.containerenv,
//          /run/systemd/container, and the path in /proc/1/cgroup.

// "kvm", "vmware", "kvm+docker", "docker", "none"; "hypervisor" for one that gives no name. `root` ends with a slash.
[[nodiscard]] std::string virtualisation(const std::string& root, std::string_view cpuinfo);

// The work of DAMON, the kernel's access monitor, on this machine. If it pages memory out, it decides the cost of a
// first touch or a re-touch, and not the allocator.
//
// Sources  /sys/kernel/mm/damon/admin/kdamonds/*: state, operations and the schemes' actions; "enabled" of the modules
//          damon_reclaim and damon_lru_sort. Most of these only root may read.

// "off", "paddr: pageout", "vaddr: stat, cold; reclaim", or "unknown" when there are monitors that we may not look at.
// `root` ends with a slash.
[[nodiscard]] std::string damon(const std::string& root);

// How much more memory this process may map within its limits.
//
// Units    bytes.
// Sources  getrlimit(2): RLIMIT_AS and RLIMIT_DATA, less VmSize and VmData of /proc/self/status.

// Empty: no limit.
[[nodiscard]] std::optional<std::uint64_t> address_space_left();

}  // namespace memsweep::sys
