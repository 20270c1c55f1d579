// The parts of a machine, as hwloc describes them: processors, caches, NUMA nodes, PCI devices, and their distances. A
// Topology is a plain value: it is made once and passed in, so decisions that rest on it are tested on machines that
// are not at hand.
//
// The host decides what a virtual machine sees: it may advertise a whole last-level cache to a guest that has a share
// of it. The share that a program gets has to be measured.
//
// Units    bytes; processors and nodes by the numbers of the operating system.
// Sources  hwloc 2.x. As in every program that uses it, HWLOC_XMLFILE and HWLOC_SYNTHETIC describe another machine in
//          place of this one. On this machine the kernel decides two facts. Its own list says which processors a node
//          has, because hwloc gives a node of memory alone the processors nearest to it. It says how much memory there
//          is in all, because nodes may lack memory that was plugged in later (check_memory). `xml` is hwloc's own.
// Cost     1.4 ms here, 40 to 80 ms on an emulated processor, and some hundred KiB of heap: never in a worker, whose
//          memory is measured.
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
    std::optional<std::uint32_t> core;  // processors of one core share its units; empty: not shown
    int kind{-1};                       // kind of core, by the highest frequency, the least first; -1: not shown
};

enum class CacheType : std::uint8_t { data, instruction, unified };
[[nodiscard]] std::string_view name_of(CacheType type) noexcept;  // "Data"

struct Cache {
    std::uint32_t level{};
    CacheType type{};
    std::uint64_t bytes{};
    std::uint32_t line_bytes{};
    std::vector<std::uint32_t> cpus;  // the processors that share it
};

struct NumaNode {
    std::uint32_t id{};
    std::vector<std::uint32_t> cpus;       // that this process may use; empty for a node of memory alone
    std::uint64_t memory_bytes{};          // 0 for a node of processors alone
    std::vector<std::uint32_t> distances;  // the firmware's (SLIT; 10 is local), to every node in their order; or empty
};

struct PciDevice {
    std::string address;               // "0000:3b:00.0"
    std::uint16_t class_id{};          // 0x0302: a 3D controller
    std::string kind;                  // "3D"
    std::vector<std::string> names;    // that drivers gave it: "cuda0", "eth0"
    std::vector<std::uint32_t> nodes;  // nearest to it
};

// One object as lstopo draws it, and the objects in it: memory first, then processors and caches, then devices.
struct TopologyPart {
    enum class Kind : std::uint8_t { machine, package, group, node, cache, core, processor, bridge, device, other };
    Kind kind{};
    std::string label;          // "L2 L#0 (2048KB)"
    bool has_all_processors{};  // all that the part around it has
    std::vector<TopologyPart> parts;
};

struct Topology {
    bool is_this_machine{};
    std::uint32_t cores{};               // 0: not shown
    std::uint32_t packages{};            // 0: not shown
    std::vector<Processor> processors;   // online, in the order of their numbers
    std::vector<Cache> caches;           // by level, type and size, then by processor
    std::vector<NumaNode> nodes;         // in the order of their numbers, at least one
    std::uint64_t memory_bytes{};        // sum over all nodes; 0: not shown
    std::uint64_t contradicted_bytes{};  // the sum of the nodes by hwloc, if the kernel counts otherwise; else 0
    std::vector<PciDevice> devices;      // by address
    TopologyPart machine;
    std::string xml;  // the whole of it, as lstopo and every program with hwloc read it
};

[[nodiscard]] base::Expected<Topology> load_topology();
[[nodiscard]] base::Expected<Topology> topology_from_xml(const std::string& path);
[[nodiscard]] base::Expected<Topology> topology_from_synthetic(const std::string& description);

// Checks the nodes' memory against the kernel's total (MemTotal of /proc/meminfo; 0: not known), as load_topology does
// for this machine. A difference of a hundredth is forgiven.
//
// If memory was plugged in after the start, the kernel's figures of its nodes, which hwloc reads, miss it. Then the
// total counts for the machine, and for its only node. In a container /proc/meminfo may show a limit, so the nodes have
// more. Then the nodes' figures count. Either way the drawing shows both figures, and contradicted_bytes is set.
void check_memory(Topology& topology, std::uint64_t kernel_bytes);

// Caches that are alike.
struct CacheKind {
    std::uint32_t level{};
    CacheType type{};
    std::uint64_t bytes{};
    std::uint32_t line_bytes{};
    std::uint32_t instances{};
    std::uint32_t shared_by{};  // processors
};
[[nodiscard]] std::vector<CacheKind> cache_kinds(const Topology& topology);

// The size of one cache of the largest level that holds data; 0 where none is shown.
[[nodiscard]] std::uint64_t last_level_cache_bytes(const Topology& topology);

// Draws a machine as lstopo does: an object in another is a line further in, or a box in its box.

// Each object has a line. An object alone in another with the same processors stands on the other's line, after a "+".
[[nodiscard]] std::string text_of(const Topology& topology);

// A whole SVG document, without scripts and without references to anything outside it.
[[nodiscard]] std::string svg_of(const Topology& topology);

}  // namespace memsweep::sys
