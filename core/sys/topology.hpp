// The processors of this machine and the caches between them and memory, as the kernel describes them.
//
// A virtual machine shows what its host chose to show: a last-level cache may be advertised whole to a guest that has a
// share of it. What a program finds of it has to be measured.
//
// Units    bytes; processors, cores, packages and cache instances as counts.
// Sources  /sys/devices/system/cpu/cpuN/{topology,cache} below `root`; /sys/kernel/mm/hugepages.
// Errors   none: what is not shown is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace memsweep::sys {

struct CacheFacts {
    std::uint32_t level{};
    std::string type;  // Data, Instruction, Unified
    std::uint64_t bytes{};
    std::uint32_t line_bytes{};
    std::uint32_t instances{};  // on this machine
    std::uint32_t shared_by{};  // processors that share one
};

struct HugePagePool {
    std::uint64_t page_bytes{};
    std::uint64_t reserved{};
    std::uint64_t free{};
};

struct CpuTopology {
    std::uint32_t processors{};            // online
    std::uint32_t cores{};                 // 0: not shown
    std::uint32_t packages{};              // 0: not shown
    std::vector<CacheFacts> caches;        // by level, then type
    std::vector<HugePagePool> huge_pages;  // smallest pages first
};

[[nodiscard]] CpuTopology cpu_topology(const std::string& root = "/");

// Of the largest level, data or unified; 0 where none is shown.
[[nodiscard]] std::uint64_t last_level_cache_bytes(const CpuTopology& topology);
[[nodiscard]] std::uint64_t first_level_cache_bytes(const CpuTopology& topology);

}  // namespace memsweep::sys
