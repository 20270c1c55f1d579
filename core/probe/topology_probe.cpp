#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/quantity.hpp"
#include "core/probe/device_cases.hpp"
#include "core/probe/probe_case.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/machine_facts.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::probe {
namespace {

model::CaseReport topology_part(std::string name)
{
    return new_case("probe_topology", {{"part", std::move(name)}});
}

model::CaseReport processors_case(const ProbeContext& context)
{
    model::CaseReport report = topology_part("processors");
    const auto& all = context.topology.processors;
    set_fact(report, "online", all.size());
    set_fact(report, "usable", std::int64_t{std::ranges::count_if(all, &sys::Processor::is_allowed)});
    if (context.topology.packages != 0) {
        set_fact(report, "cores", context.topology.cores);
        set_fact(report, "packages", context.topology.packages);
    }
    if (!context.topology.is_this_machine) {
        set_fact(report, "source", std::string{"another machine, as HWLOC_XMLFILE or HWLOC_SYNTHETIC describes it"});
    }
    return report;
}

std::string_view letter_of(sys::CacheType type)
{
    return type == sys::CacheType::data ? "d" : type == sys::CacheType::instruction ? "i" : "";
}

model::CaseReport cache_case(const sys::CacheKind& facts)
{
    model::CaseReport report = topology_part(fmt::format("l{}{}_{}", facts.level, letter_of(facts.type), facts.bytes));
    set_fact(report, "size", base::exact_size(facts.bytes));
    set_fact(report, "type", std::string{sys::name_of(facts.type)});
    set_fact(report, "instances", facts.instances);
    set_fact(report, "shared_by", facts.shared_by);
    set_fact(report, "line_bytes", facts.line_bytes);
    return report;
}

model::CaseReport node_case(const sys::NumaNode& facts)
{
    model::CaseReport report = topology_part(fmt::format("node{}", facts.id));
    set_fact(report, "memory", base::format_size(static_cast<double>(facts.memory_bytes)));
    set_fact(report, "memory_bytes", facts.memory_bytes);
    set_fact(report, "processors",
             facts.cpus.empty() ? std::string{"none that may be used"} : fmt::format("{}", fmt::join(facts.cpus, ",")));
    if (!facts.distances.empty()) {
        set_fact(report, "distances", fmt::format("{}", fmt::join(facts.distances, ",")));
    }
    return report;
}

// Of a device on the PCI bus that computes or draws.
bool is_accelerator(const sys::PciDevice& device)
{
    constexpr std::uint16_t coprocessor = 0x0b40;
    constexpr int display = 0x03;
    constexpr int accelerator = 0x12;
    const int family = device.class_id >> 8;
    return family == display || family == accelerator || device.class_id == coprocessor;
}

model::CaseReport accelerator_case(const sys::PciDevice& device)
{
    model::CaseReport report = topology_part("pci_" + device.address);
    set_fact(report, "kind", device.kind);
    if (!device.names.empty()) {
        set_fact(report, "names", fmt::format("{}", fmt::join(device.names, ",")));
    }
    set_fact(report, "nearest_nodes", fmt::format("{}", fmt::join(device.nodes, ",")));
    return report;
}

model::CaseReport pages_case()
{
    model::CaseReport report = topology_part("pages");
    set_fact(report, "base", base::exact_size(sys::page_size()));
    const std::uint64_t huge = sys::huge_page_bytes();
    set_fact(report, "transparent_huge", huge == 0 ? std::string{"none"} : base::exact_size(huge));
    for (const sys::HugePagePool& pool : sys::huge_page_pools()) {
        set_fact(report, "reserved_" + base::exact_size(pool.page_bytes),
                 fmt::format("{}, {} of them free", pool.reserved, pool.free));
    }
    return report;
}

model::CaseReport pressure_case()
{
    model::CaseReport report = topology_part("pressure");
    set_fact(report, "available", base::format_size(static_cast<double>(sys::available_memory())));
    const auto stalled = sys::stalled_percent("/", "memory");
    set_fact(report, "stalled",
             stalled ? fmt::format("{} % of the last ten seconds (PSI)", *stalled)
                     : std::string{"unknown: this kernel keeps no pressure figures"});
    const auto used = sys::cgroup_share_used("/");
    set_fact(report, "cgroup_used",
             used ? fmt::format("{:.0f} % of the tightest limit", *used * 100) : std::string{"no limit"});
    return report;
}

}  // namespace

std::vector<model::CaseReport> probe_topology(const ProbeContext& context)
{
    std::vector<model::CaseReport> cases{processors_case(context)};
    for (const sys::CacheKind& facts : sys::cache_kinds(context.topology)) {
        cases.push_back(cache_case(facts));
    }
    for (const sys::NumaNode& facts : context.nodes) {
        cases.push_back(node_case(facts));
        if (const std::uint64_t told = context.topology.contradicted_bytes; told != 0) {
            set_fact(cases.back(), "memory_doubt",
                     fmt::format("hwloc gives all nodes {}, the kernel counts {} (MemTotal)", base::format_size(told),
                                 base::format_size(sys::machine_facts().memory_bytes)));
        }
    }
    for (const sys::PciDevice& device : context.topology.devices) {
        if (is_accelerator(device)) {
            cases.push_back(accelerator_case(device));
        }
    }
    if (context.topology.is_this_machine) {  // of no other machine is it known
        cases.push_back(pages_case());
        cases.push_back(pressure_case());
    }
    return cases;
}

namespace {

// "possible, off now, 4 NVLinks through a switch"
std::string peer_text(const device::PeerLink& link)
{
    if (!link.possible) {
        return "no: " + link.reason;
    }
    const std::string links = !link.nvlinks ? std::string{}
                              : *link.nvlinks == 0
                                  ? ", no NVLink"
                                  : fmt::format(", {} NVLink{}{}", *link.nvlinks, *link.nvlinks == 1 ? "" : "s",
                                                link.through_switch ? " through a switch" : "");
    return fmt::format("possible, {} now{}", link.direct ? "on" : "off", links);
}

// What tells a card from another of its kind, and how it is set up; what is not told is left out.
void set_identity(model::CaseReport& report, const device::DeviceFacts& facts)
{
    const auto set_text = [&](const char* name, const std::string& text) {
        if (!text.empty()) {
            set_fact(report, name, text);
        }
    };
    const auto set_mode = [&](const char* name, const std::optional<bool>& mode) {
        if (mode) {
            set_fact(report, name, std::string{*mode ? "on" : "off"});
        }
    };
    set_text("uuid", facts.uuid);
    set_text("part_of", facts.part_of);
    set_text("serial", facts.serial);
    set_text("environment", facts.environment);
    set_mode("ecc", facts.has_ecc);
    set_mode("mig", facts.is_partitioned);
    if (facts.power_limit_w) {
        set_fact(report, "power_limit", fmt::format("{:.0f} W", *facts.power_limit_w));
    }
    if (facts.link_replays) {
        set_fact(report, "link_replays", *facts.link_replays);
    }
}

}  // namespace

std::vector<model::CaseReport> probe_device_facts(const device::Runtime& runtime)
{
    std::vector<model::CaseReport> cases;
    for (std::uint32_t number = 0; number < runtime.devices().size(); ++number) {
        const device::DeviceFacts& facts = runtime.devices()[number];
        model::CaseReport& report = cases.emplace_back(new_case("probe_topology", {{"part", device_word(number)}}));
        set_fact(report, "name", facts.name);
        set_fact(report, "class", std::string{device::name_of(facts.device_class)});
        set_fact(report, "runtime", std::string{runtime.backend()});
        set_fact(report, "driver", facts.driver);
        set_fact(report, "memory", base::format_size(static_cast<double>(facts.memory_bytes)));
        set_fact(report, "compute_units", facts.compute_units);
        if (!facts.bus_address.empty()) {
            set_fact(report, "bus_address", facts.bus_address);
        }
        if (facts.numa_node) {
            set_fact(report, "numa_node", *facts.numa_node);
        }
        set_fact(report, "reaches_ordinary_memory", std::string{facts.reaches_ordinary ? "yes" : "no"});
        if (facts.copy_engines) {
            set_fact(report, "copy_engines", *facts.copy_engines);
        }
        if (facts.cache_bytes) {
            set_fact(report, "cache", base::format_size(static_cast<double>(*facts.cache_bytes)));
        }
        if (facts.memory_bytes_per_s) {
            set_fact(report, "memory_ceiling", fmt::format("{:.1f} GB/s", *facts.memory_bytes_per_s / 1e9));
        }
        set_identity(report, facts);
        if (const auto link = runtime.host_link(number)) {
            set_fact(report, "link", fmt::format("PCIe {} x{}, idle", link->generation, link->lanes));
        }
        for (std::uint32_t other = 0; other < runtime.devices().size(); ++other) {
            if (other != number) {
                set_fact(report, "peer_" + device_word(other), peer_text(runtime.peer(number, other)));
            }
        }
    }
    if (cases.empty()) {
        cases.push_back(new_case("probe_topology", {{"part", std::string{"devices"}}}));
        skip(cases.back(), runtime.absence());
    }
    return cases;
}

std::vector<std::string> device_lines(const device::Runtime& runtime)
{
    std::vector<std::string> lines;
    for (std::uint32_t number = 0; number < runtime.devices().size(); ++number) {
        const device::DeviceFacts& facts = runtime.devices()[number];
        lines.push_back(fmt::format("{}: {} ({}{}{})", device_word(number), facts.name, facts.architecture,
                                    facts.architecture.empty() ? "" : ", ", facts.driver));
    }
    return lines;
}

}  // namespace memsweep::probe
