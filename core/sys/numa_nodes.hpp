// The NUMA nodes of this machine, and which of them memory lies on.
//
// Units    bytes; distances are the firmware's (SLIT): 10 is local.
// Sources  /sys/devices/system/node below `root`; sched_getaffinity; mbind and move_pages, which asks and moves
// nothing. Errors   os: the kernel refused; not_supported: it knows no NUMA.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

struct NumaNode {
    std::uint32_t id{};
    std::vector<std::uint32_t> cpus;       // that this process may use; empty for a node of memory alone
    std::uint64_t memory_bytes{};          // 0 for a node of processors alone
    std::vector<std::uint32_t> distances;  // to every node, in their order; empty when unknown
};

// In the order of their numbers. Where the kernel shows none: one node 0 of every processor and all memory.
[[nodiscard]] std::vector<NumaNode> numa_nodes(const std::string& root = "/");

// The numbers in a list such as "0-3,8"; empty when it is no such list.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> parse_list(std::string_view list);

[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

// Pages of [ptr, ptr + bytes) that are touched from now on come from this node alone. Page-aligned.
[[nodiscard]] base::Expected<void> bind_to_node(void* ptr, std::uint64_t bytes, std::uint32_t node);

// Base pages of [ptr, ptr + bytes) by the node that the kernel says they lie on; not_resident counts those on none.
struct PagesByNode {
    std::map<std::uint32_t, std::uint64_t> pages;
    std::uint64_t not_resident{};
};
[[nodiscard]] base::Expected<PagesByNode> pages_by_node(const void* ptr, std::uint64_t bytes);

}  // namespace memsweep::sys
