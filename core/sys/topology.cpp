#include "core/sys/topology.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <hwloc.h>

#include "core/sys/file_text.hpp"
#include "core/sys/processors.hpp"

namespace memsweep::sys {
namespace {

using Handle = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Kind = TopologyPart::Kind;

constexpr std::uint32_t local_distance = 10;  // ACPI: the distance of a node to itself

std::vector<std::uint32_t> numbers_in(hwloc_const_bitmap_t set)
{
    std::vector<std::uint32_t> numbers;
    if (set != nullptr && hwloc_bitmap_weight(set) > 0) {
        for (int number = hwloc_bitmap_first(set); number >= 0; number = hwloc_bitmap_next(set, number)) {
            numbers.push_back(static_cast<std::uint32_t>(number));
        }
    }
    return numbers;
}

template <typename Visit>
void for_each_of(hwloc_topology_t topology, hwloc_obj_type_t type, const Visit& visit)
{
    for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object != nullptr;
         object = hwloc_get_next_obj_by_type(topology, type, object)) {
        visit(object);
    }
}

std::uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    return static_cast<std::uint32_t>(std::max(hwloc_get_nbobjs_by_type(topology, type), 0));
}

std::vector<Processor> processors_of(hwloc_topology_t topology, bool is_this_machine)
{
    const std::vector<std::uint32_t> allowed =
        is_this_machine ? allowed_cpus() : numbers_in(hwloc_topology_get_allowed_cpuset(topology));
    std::vector<Processor> processors;
    for_each_of(topology, HWLOC_OBJ_PU, [&](hwloc_obj_t object) {
        const bool is_allowed = std::ranges::find(allowed, object->os_index) != allowed.end();
        const hwloc_obj* const core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, object);
        processors.push_back({.id = object->os_index,
                              .is_allowed = is_allowed,
                              .core = core == nullptr ? std::nullopt : std::optional{core->logical_index},
                              .kind = hwloc_cpukinds_get_by_cpuset(topology, object->cpuset, 0)});
    });
    std::ranges::sort(processors, {}, &Processor::id);
    return processors;
}

CacheType type_of(hwloc_obj_cache_type_t type)
{
    return type == HWLOC_OBJ_CACHE_DATA          ? CacheType::data
           : type == HWLOC_OBJ_CACHE_INSTRUCTION ? CacheType::instruction
                                                 : CacheType::unified;
}

std::vector<Cache> caches_of(hwloc_topology_t topology)
{
    std::vector<Cache> caches;
    for (int type = HWLOC_OBJ_L1CACHE; type <= HWLOC_OBJ_L3ICACHE; ++type) {
        for_each_of(topology, static_cast<hwloc_obj_type_t>(type), [&](hwloc_obj_t object) {
            const auto& facts = object->attr->cache;
            caches.push_back({.level = facts.depth,
                              .type = type_of(facts.type),
                              .bytes = facts.size,
                              .line_bytes = facts.linesize,
                              .cpus = numbers_in(object->cpuset)});
        });
    }
    std::ranges::sort(caches, {}, [](const Cache& cache) {
        return std::tuple{cache.level, cache.type, cache.bytes, cache.cpus};
    });
    return caches;
}

// Each processor lies in one node; hwloc also names those nearest to a node of memory alone. Among the nodes that name
// a processor it belongs to the one with the fewest processors, and of those to the first.
void share_out(const std::vector<Processor>& processors, const std::vector<std::vector<std::uint32_t>>& near,
               std::vector<NumaNode>& nodes)
{
    for (const Processor& processor : processors) {
        std::size_t home = nodes.size();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const bool names_it = std::ranges::binary_search(near[i], processor.id);
            home = names_it && (home == nodes.size() || near[i].size() < near[home].size()) ? i : home;
        }
        if (home != nodes.size() && processor.is_allowed) {
            nodes[home].cpus.push_back(processor.id);
        }
    }
}

void add_distances(hwloc_topology_t topology, const std::vector<hwloc_obj_t>& objects, std::vector<NumaNode>& nodes)
{
    if (nodes.size() == 1) {
        nodes.front().distances = {local_distance};
        return;
    }
    unsigned found = 1;
    hwloc_distances_s* distances = nullptr;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &found, &distances,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        found == 0) {
        return;
    }
    const std::size_t count = distances->nbobjs;
    const auto place_of = [&](hwloc_obj_t object) {
        return static_cast<std::size_t>(std::find(distances->objs, distances->objs + count, object) - distances->objs);
    };
    if (count == nodes.size()) {
        for (std::size_t from = 0; from < nodes.size(); ++from) {
            for (hwloc_obj_t to : objects) {
                nodes[from].distances.push_back(
                    static_cast<std::uint32_t>(distances->values[place_of(objects[from]) * count + place_of(to)]));
            }
        }
    }
    hwloc_distances_release(topology, distances);
}

std::vector<NumaNode> nodes_of(hwloc_topology_t topology, const std::vector<Processor>& processors,
                               bool is_this_machine)
{
    std::vector<hwloc_obj_t> objects;
    for_each_of(topology, HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t object) { objects.push_back(object); });
    std::ranges::sort(objects, {}, &hwloc_obj::os_index);
    std::vector<NumaNode> nodes;
    std::vector<std::vector<std::uint32_t>> near;
    for (hwloc_obj_t object : objects) {
        nodes.push_back({.id = object->os_index, .memory_bytes = object->attr->numanode.local_memory});
        auto own = is_this_machine ? processors_of_node(object->os_index) : std::nullopt;
        near.push_back(own ? *std::move(own) : numbers_in(object->cpuset));
    }
    share_out(processors, near, nodes);
    add_distances(topology, objects, nodes);
    return nodes;
}

template <typename Print>
std::string printed(const Print& print)
{
    std::array<char, 256> text{};
    print(text.data(), text.size());
    return text.data();
}

// "3D", of "... class=0302(3D) ...": hwloc tells the name of a class among the attributes alone.
std::string pci_kind(hwloc_obj_t object)
{
    const std::string all =
        printed([&](char* text, std::size_t bytes) { hwloc_obj_attr_snprintf(text, bytes, object, " ", 1); });
    const std::size_t at = all.find("class=");
    const std::size_t open = all.find('(', at);
    return at == std::string::npos || open == std::string::npos ? std::string{}
                                                                : all.substr(open + 1, all.find(')', open) - open - 1);
}

std::string pci_address(const decltype(hwloc_obj_attr_u::pcidev)& facts, bool with_domain)
{
    const std::string address = fmt::format("{:02x}:{:02x}.{:x}", facts.bus, facts.dev, facts.func);
    return with_domain ? fmt::format("{:04x}:{}", facts.domain, address) : address;
}

std::vector<PciDevice> devices_of(hwloc_topology_t topology)
{
    std::vector<PciDevice> devices;
    for_each_of(topology, HWLOC_OBJ_PCI_DEVICE, [&](hwloc_obj_t object) {
        PciDevice device{.address = pci_address(object->attr->pcidev, true),
                         .class_id = object->attr->pcidev.class_id,
                         .kind = pci_kind(object)};
        for (hwloc_obj_t inside = object->io_first_child; inside != nullptr; inside = inside->next_sibling) {
            if (inside->name != nullptr) {
                device.names.emplace_back(inside->name);
            }
        }
        device.nodes = numbers_in(hwloc_get_non_io_ancestor_obj(topology, object)->nodeset);
        devices.push_back(std::move(device));
    });
    std::ranges::sort(devices, {}, &PciDevice::address);
    return devices;
}

Kind kind_of(hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type) != 0 || object->type == HWLOC_OBJ_MEMCACHE) {
        return Kind::cache;
    }
    static constexpr std::array<std::pair<hwloc_obj_type_t, Kind>, 10> kinds{{{HWLOC_OBJ_MACHINE, Kind::machine},
                                                                              {HWLOC_OBJ_PACKAGE, Kind::package},
                                                                              {HWLOC_OBJ_DIE, Kind::group},
                                                                              {HWLOC_OBJ_GROUP, Kind::group},
                                                                              {HWLOC_OBJ_NUMANODE, Kind::node},
                                                                              {HWLOC_OBJ_CORE, Kind::core},
                                                                              {HWLOC_OBJ_PU, Kind::processor},
                                                                              {HWLOC_OBJ_BRIDGE, Kind::bridge},
                                                                              {HWLOC_OBJ_PCI_DEVICE, Kind::device},
                                                                              {HWLOC_OBJ_OS_DEVICE, Kind::device}}};
    const auto* const found = std::ranges::find(kinds, object->type, &std::pair<hwloc_obj_type_t, Kind>::first);
    return found == kinds.end() ? Kind::other : found->second;
}

// As lstopo writes it: "NUMANode L#0 (P#0 64GB)", "PCI 3b:00.0 (3D)", "Net \"eth0\"".
std::string label_of(hwloc_obj_t object, bool with_domain)
{
    std::string label =
        printed([&](char* text, std::size_t bytes) { hwloc_obj_type_snprintf(text, bytes, object, 0); });
    if (object->subtype != nullptr) {
        label += fmt::format("({})", object->subtype);
    }
    const bool is_counted = hwloc_obj_type_is_normal(object->type) != 0 || hwloc_obj_type_is_memory(object->type) != 0;
    if (object->parent != nullptr && is_counted) {
        label += fmt::format(" L#{}", object->logical_index);
    }
    if (object->name != nullptr && (object->type == HWLOC_OBJ_MISC || object->type == HWLOC_OBJ_GROUP)) {
        label += fmt::format(" {}", object->name);
    }
    if (object->type == HWLOC_OBJ_PCI_DEVICE) {
        label += fmt::format(" {} ({})", pci_address(object->attr->pcidev, with_domain), pci_kind(object));
    }
    std::string facts = object->type == HWLOC_OBJ_PU || object->type == HWLOC_OBJ_NUMANODE
                            ? fmt::format("P#{}", object->os_index)
                            : std::string{};
    if (const std::string more =
            printed([&](char* text, std::size_t bytes) { hwloc_obj_attr_snprintf(text, bytes, object, " ", 0); });
        !more.empty()) {
        facts += (facts.empty() ? "" : " ") + more;
    }
    if (!facts.empty()) {
        label += fmt::format(" ({})", facts);
    }
    if (object->name != nullptr && object->type == HWLOC_OBJ_OS_DEVICE) {
        label += fmt::format(" \"{}\"", object->name);
    }
    return label;
}

// "2048KB", "755GB": in the unit that gives up to four digits, as hwloc writes sizes.
std::string size_text(std::uint64_t bytes)
{
    constexpr std::array<const char*, 4> units{"KB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    std::uint64_t scale = 1U << 10;
    while (unit + 1 < units.size() && bytes >= 10 * (scale << 10)) {
        scale <<= 10;
        ++unit;
    }
    return fmt::format("{}{}", (bytes + scale / 2) / scale, units[unit]);
}

TopologyPart part_of(hwloc_obj_t object, bool with_domain)
{
    const hwloc_obj* const parent = object->parent;
    TopologyPart part{.kind = kind_of(object),
                      .label = label_of(object, with_domain),
                      .has_all_processors = parent != nullptr && object->cpuset != nullptr &&
                                            parent->cpuset != nullptr &&
                                            hwloc_bitmap_isequal(object->cpuset, parent->cpuset) != 0};
    for (hwloc_obj_t first :
         {object->memory_first_child, object->first_child, object->io_first_child, object->misc_first_child}) {
        for (hwloc_obj_t child = first; child != nullptr; child = child->next_sibling) {
            part.parts.push_back(part_of(child, with_domain));
        }
    }
    return part;
}

std::string xml_of(hwloc_topology_t topology)
{
    char* text = nullptr;
    int bytes = 0;
    if (hwloc_topology_export_xmlbuffer(topology, &text, &bytes, 0) != 0) {
        return {};
    }
    std::string xml{text};
    hwloc_free_xmlbuffer(topology, text);
    return xml;
}

void replace_in_label(TopologyPart& part, const std::string& what, const std::string& by)
{
    if (const std::size_t at = part.label.rfind(what); at != std::string::npos) {
        part.label.replace(at, what.size(), by);
    }
}

void replace_in_nodes(TopologyPart& part, const std::string& what, const std::string& by)
{
    if (part.kind == Kind::node) {
        replace_in_label(part, what, by);
    }
    for (TopologyPart& inner : part.parts) {
        replace_in_nodes(inner, what, by);
    }
}

// While it lives hwloc finds no plugins. Those of devices would start the drivers themselves: hundreds of MiB of
// address space for PoCL's compiler alone. "pci" names vendors through libpciaccess, which leaks its table of names at
// each load; hwloc's own reading of sysfs finds the same devices. The one for XML loads libxml2, which frees twice
// where memory was refused; hwloc reads and writes its own XML without it.
//
// Threads  as setenv(3): no other reads the environment meanwhile.
// NOLINTBEGIN(concurrency-mt-unsafe): see Threads
class WithoutPlugins {
  public:
    WithoutPlugins() : is_ours_{std::getenv(variable) == nullptr && ::setenv(variable, "/nonexistent", 1) == 0} {}
    WithoutPlugins(const WithoutPlugins&) = delete;
    WithoutPlugins& operator=(const WithoutPlugins&) = delete;
    ~WithoutPlugins()
    {
        if (is_ours_) {
            ::unsetenv(variable);
        }
    }

  private:
    static constexpr const char* variable = "HWLOC_PLUGINS_PATH";
    bool is_ours_;
};
// NOLINTEND(concurrency-mt-unsafe)

// `choose` says what is described, when it is not this machine.
template <typename Choose>
base::Expected<Topology> load(const std::string& what, const Choose& choose)
{
    const WithoutPlugins without_plugins;
    hwloc_topology_t made = nullptr;
    if (hwloc_topology_init(&made) != 0) {
        return base::fail(base::os_error("hwloc_topology_init", errno));
    }
    const Handle handle{made, hwloc_topology_destroy};
    // Where they are built in.
    for (const char* const plugin : {"opencl", "cuda", "nvml", "rsmi", "levelzero", "gl", "pci"}) {
        hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
    }
    hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_all_types_filter(made, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (choose(made) != 0 || hwloc_topology_load(made) != 0) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("hwloc cannot read it ({})", base::os_error("", errno).message), what);
    }
    Topology topology;
    topology.is_this_machine = hwloc_topology_is_thissystem(made) != 0;
    topology.cores = count_of(made, HWLOC_OBJ_CORE);
    topology.packages = count_of(made, HWLOC_OBJ_PACKAGE);
    topology.processors = processors_of(made, topology.is_this_machine);
    topology.caches = caches_of(made);
    topology.nodes = nodes_of(made, topology.processors, topology.is_this_machine);
    topology.devices = devices_of(made);
    const bool with_domain = std::ranges::any_of(
        topology.devices, [](const PciDevice& device) { return !device.address.starts_with("0000:"); });
    topology.machine = part_of(hwloc_get_root_obj(made), with_domain);
    topology.memory_bytes = hwloc_get_root_obj(made)->total_memory;
    if (topology.memory_bytes != 0) {
        topology.machine.label += fmt::format(" ({} total)", size_text(topology.memory_bytes));
    }
    topology.xml = xml_of(made);
    return topology;
}

}  // namespace

std::string_view name_of(CacheType type) noexcept
{
    return type == CacheType::data ? "Data" : type == CacheType::instruction ? "Instruction" : "Unified";
}

base::Expected<Topology> load_topology()
{
    Topology topology = MEMSWEEP_TRY(load("this machine", [](hwloc_topology_t) { return 0; }));
    if (topology.is_this_machine) {
        check_memory(topology, find_kib_field(read_kernel_text("/proc/meminfo").value_or(""), "MemTotal").value_or(0));
    }
    return topology;
}

void check_memory(Topology& topology, std::uint64_t kernel_bytes)
{
    constexpr std::uint64_t forgiven_share = 100;
    const std::uint64_t told = topology.memory_bytes;
    const std::uint64_t apart = told > kernel_bytes ? told - kernel_bytes : kernel_bytes - told;
    if (kernel_bytes == 0 || told == 0 || apart <= kernel_bytes / forgiven_share) {
        return;
    }
    topology.contradicted_bytes = told;
    const bool is_more = kernel_bytes > told;
    const std::string before = size_text(told);
    const std::string stands = size_text(is_more ? kernel_bytes : told);
    const std::string mark = is_more ? "hwloc: " + before : "MemTotal: " + size_text(kernel_bytes);
    replace_in_label(topology.machine, before + " total", fmt::format("{} total; {}", stands, mark));
    if (!is_more) {
        return;
    }
    topology.memory_bytes = kernel_bytes;
    if (topology.nodes.size() == 1) {
        topology.nodes.front().memory_bytes = kernel_bytes;
        replace_in_nodes(topology.machine, before, fmt::format("{}; {}", stands, mark));
    }
}

base::Expected<Topology> topology_from_xml(const std::string& path)
{
    return load(path, [&](hwloc_topology_t topology) { return hwloc_topology_set_xml(topology, path.c_str()); });
}

base::Expected<Topology> topology_from_synthetic(const std::string& description)
{
    return load(description,
                [&](hwloc_topology_t topology) { return hwloc_topology_set_synthetic(topology, description.c_str()); });
}

std::vector<CacheKind> cache_kinds(const Topology& topology)
{
    std::vector<CacheKind> kinds;
    for (const Cache& cache : topology.caches) {
        const auto same = [&](const CacheKind& kind) {
            return kind.level == cache.level && kind.type == cache.type && kind.bytes == cache.bytes;
        };
        if (kinds.empty() || !same(kinds.back())) {
            kinds.push_back({cache.level, cache.type, cache.bytes, cache.line_bytes, 0, 0});
        }
        ++kinds.back().instances;
        kinds.back().shared_by = std::max(kinds.back().shared_by, static_cast<std::uint32_t>(cache.cpus.size()));
    }
    return kinds;
}

std::uint64_t last_level_cache_bytes(const Topology& topology)
{
    const auto last = std::ranges::find_if(topology.caches.rbegin(), topology.caches.rend(),
                                           [](const Cache& cache) { return cache.type != CacheType::instruction; });
    return last == topology.caches.rend() ? 0 : last->bytes;
}

}  // namespace memsweep::sys
