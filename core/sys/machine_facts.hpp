// Facts about this machine that affect the measured cost of memory. Every result records them.
//
// Units    bytes and counts.
// Sources  files in /proc and /sys below `root`, named in machine_facts.cpp; sysconf for the page size.
// Cost     reads some 50 small files in a few milliseconds; a run of memsweep does this one time.
// Errors   none: a fact that cannot be read is "unknown", empty or absent (see model::Machine).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/machine.hpp"

namespace memsweep::sys {

// All facts except the devices and the fingerprint, which the caller adds.
[[nodiscard]] model::Machine machine_facts(const std::string& root = "/");

// The memory that can be touched before the kernel swaps, throttles or kills: the smallest of MemAvailable and the
// headroom_bytes (CgroupLevel) of this process's control group and of all groups above it. 0: not known.
[[nodiscard]] std::uint64_t available_memory(const std::string& root = "/");

// The size of a transparent huge page; 0: this kernel has none.
[[nodiscard]] std::uint64_t huge_page_bytes(const std::string& root = "/");

// The hypervisor and the container around this process; both change the cost of a page fault. Examples: "kvm",
// "vmware", "kvm+docker", "docker", "none"; "hypervisor": a hypervisor without a known name. `root` ends with a slash.
//
// Sources  hypervisors: /sys/hypervisor/type, the vendor names in /sys/class/dmi/id, the "hypervisor" flag in
//          /proc/cpuinfo (x86), "microsoft" in the kernel's release (WSL). Containers: /.dockerenv, /run/.containerenv,
//          /run/systemd/container, and the path in /proc/1/cgroup.
[[nodiscard]] std::string virtualisation(const std::string& root, std::string_view cpuinfo);

// What DAMON, the kernel's access monitor, does on this machine: "off", "paddr: pageout", "vaddr: stat, cold; reclaim",
// or "unknown" if we may not read a monitor's state. If DAMON pages memory out, then DAMON and not the allocator
// decides the cost of touching memory. `root` ends with a slash.
//
// Sources  /sys/kernel/mm/damon/admin/kdamonds/*: state, operations and the actions of the schemes; "enabled" of the
//          modules damon_reclaim and damon_lru_sort. Only root may read most of these.
[[nodiscard]] std::string damon(const std::string& root);

// How many bytes this process may still map within its resource limits. Absent: there is no limit.
//
// Sources  RLIMIT_AS minus VmSize, and RLIMIT_DATA minus VmData (getrlimit(2), /proc/self/status); the smaller counts.
[[nodiscard]] std::optional<std::uint64_t> address_space_left();

}  // namespace memsweep::sys
