// The parts of a machine, as hwloc describes them: processors, caches, NUMA nodes, PCI devices, and the distances
// between nodes. A Topology is a plain value that is passed to functions, so tests can describe any machine.
//
// In a virtual machine the topology may be wrong: the host may show a whole last-level cache to a guest that can use
// only a part of it. Only a measurement shows how much cache a program can use.
//
// Units    bytes; processors and nodes by the numbers of the operating system.
// Sources  hwloc 2.x. As in every program with hwloc, the environment variables HWLOC_XMLFILE and HWLOC_SYNTHETIC can
//          make hwloc describe another machine. For this machine, two facts come from the kernel instead of hwloc:
//          - the processors of a node, because for a node without processors, hwloc names the nearest processors
//            of other nodes;
//          - the total memory, because hwloc's figures of the nodes may lack memory that was plugged in after the start
//            (check_memory()).
// Cost     1.4 ms, or 40 to 80 ms on an emulated processor, and some hundred KiB of heap. So do not load a topology in
//          a worker, whose memory is measured.
// Errors   invalid_input: hwloc cannot read the file or the description.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

struct Processor {
    std::uint32_t id{};
    bool is_allowed{};                  // this process may run on it
    std::optional<std::uint32_t> core;  // number of its core; hyperthreads of a core have the same; absent: not known
    int kind{-1};                       // kind of core, ordered from slow to fast by top frequency; -1: not known
};

enum class CacheType : std::uint8_t { data, instruction, unified };
[[nodiscard]] std::string_view name_of(CacheType type) noexcept;  // "Data"

struct Cache {
    std::uint32_t level{};
    CacheType type{};
    std::uint64_t bytes{};
    std::uint32_t line_bytes{};
    std::vector<std::uint32_t> cpus;  // the processors that share this cache
};

struct NumaNode {
    std::uint32_t id{};
    std::vector<std::uint32_t> cpus;       // the node's processors that this process may use; empty: none
    std::uint64_t memory_bytes{};          // 0: the node has no memory
    std::vector<std::uint32_t> distances;  // to each node, by the firmware (SLIT; 10: to itself); empty: not known
};

struct PciDevice {
    std::string address;               // "0000:3b:00.0"
    std::uint16_t class_id{};          // 0x0302: a 3D controller
    std::string kind;                  // "3D"
    std::vector<std::string> names;    // names that drivers gave it: "cuda0", "eth0"
    std::vector<std::uint32_t> nodes;  // the nearest nodes
};

// An object of a drawing as lstopo makes it, and the objects inside this object: memory first, then processors and
// caches, then devices.
struct TopologyPart {
    enum class Kind : std::uint8_t { machine, package, group, node, cache, core, processor, bridge, device, other };
    Kind kind{};
    std::string label;          // "L2 L#0 (2048KB)"
    bool has_all_processors{};  // this part has the same processors as the part that contains it
    std::vector<TopologyPart> parts;
};

struct Topology {
    bool is_this_machine{};
    std::uint32_t cores{};               // 0: not known
    std::uint32_t packages{};            // 0: not known
    std::vector<Processor> processors;   // the online ones, sorted by number
    std::vector<Cache> caches;           // sorted by level, type and size, then by processor
    std::vector<NumaNode> nodes;         // sorted by number, at least one
    std::uint64_t memory_bytes{};        // of the whole machine, after check_memory(); 0: not known
    std::uint64_t contradicted_bytes{};  // hwloc's sum over the nodes if it differs from the kernel's total; else 0
    std::vector<PciDevice> devices;      // sorted by address
    TopologyPart machine;
    std::string xml;  // hwloc's own description, without corrections; every program with hwloc can read it
};

[[nodiscard]] base::Expected<Topology> load_topology();
[[nodiscard]] base::Expected<Topology> topology_from_xml(const std::string& path);
[[nodiscard]] base::Expected<Topology> topology_from_synthetic(const std::string& description);

// Compares the memory of the nodes with `kernel_bytes`, the kernel's total (MemTotal of /proc/meminfo; 0: not known).
// load_topology() calls it for this machine. A difference of up to 1 % is ignored. If the difference is larger,
// contradicted_bytes is set, and the drawing shows the kernel's total and the sum of the nodes. There are two cases:
// - The total is larger than the sum of the nodes: memory was plugged in after the start, and the kernel's figures for
//   each node lack this memory. The total becomes the memory of the machine, and of the node if there is only one.
// - The sum of the nodes is larger than the total: /proc/meminfo shows the limit of a container. The figures of the
//   nodes stay.
void check_memory(Topology& topology, std::uint64_t kernel_bytes);

// All caches of the same level, type and size.
struct CacheKind {
    std::uint32_t level{};
    CacheType type{};
    std::uint64_t bytes{};
    std::uint32_t line_bytes{};
    std::uint32_t instances{};
    std::uint32_t shared_by{};  // number of processors that share one such cache
};
[[nodiscard]] std::vector<CacheKind> cache_kinds(const Topology& topology);

// Returns the size of one cache of the last level; instruction caches do not count. 0: no cache is known.
[[nodiscard]] std::uint64_t last_level_cache_bytes(const Topology& topology);

// Draws a machine as text, as lstopo does. Each object has a line, and the objects inside it are on indented lines
// below. If an object contains only one object, and this one has the same processors, both are on one line, separated
// by "+".
[[nodiscard]] std::string text_of(const Topology& topology);

// Draws a machine as a complete SVG document: boxes inside boxes. It has no scripts and no external references.
[[nodiscard]] std::string svg_of(const Topology& topology);

}  // namespace memsweep::sys
