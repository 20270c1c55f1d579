#include "core/probe/device_cases.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace memsweep::probe {
namespace {

using device::MemoryKind;

// Who sends to whom.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_at_once(CaseKind kind,
                                                                   const std::vector<std::uint32_t>& devices)
{
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    const std::size_t count = devices.size();
    const std::size_t half = count / 2;  // of an odd number the last one is left out
    for (std::size_t i = 0; i < count; ++i) {
        if (kind == CaseKind::ring) {
            pairs.emplace_back(devices[i], devices[(i + 1) % count]);
        } else if (kind == CaseKind::bisection && i < half) {
            pairs.emplace_back(devices[i], devices[i + half]);
            pairs.emplace_back(devices[i + half], devices[i]);
        }
        for (std::size_t j = 0; kind == CaseKind::all_to_all && j < count; ++j) {
            if (i != j) {
                pairs.emplace_back(devices[i], devices[j]);
            }
        }
    }
    return pairs;
}

}  // namespace

std::string device_word(std::uint32_t device)
{
    return fmt::format("gpu{}", device);
}

bool is_of_all(CaseKind kind) noexcept
{
    constexpr std::array kinds{CaseKind::all_to_host, CaseKind::host_to_all, CaseKind::all_to_one, CaseKind::one_to_all,
                               CaseKind::all_to_all,  CaseKind::ring,        CaseKind::bisection};
    return std::ranges::find(kinds, kind) != kinds.end();
}

bool is_of_pairs(CaseKind kind) noexcept
{
    return kind == CaseKind::peer || kind == CaseKind::peer_loads;
}

std::vector<std::uint32_t> chosen_devices(const ProbeContext& context, const device::Runtime& runtime)
{
    if (!context.devices.empty()) {
        return context.devices;
    }
    std::vector<std::uint32_t> all(runtime.devices().size());
    std::iota(all.begin(), all.end(), 0U);
    return all;
}

std::vector<Ends> ends_of(const DeviceCase& what, const std::vector<std::uint32_t>& devices,
                          std::optional<std::uint32_t> max_pairs)
{
    const Ends first{devices.front(), std::nullopt};
    if (is_of_all(what.kind) || (is_of_pairs(what.kind) && devices.size() < 2)) {
        return {first};  // one case for all of them, or one that says that there is no pair
    }
    std::vector<Ends> all;
    if (!is_of_pairs(what.kind)) {
        std::ranges::transform(devices, std::back_inserter(all), [](std::uint32_t one) {
            return Ends{one, std::nullopt};
        });
        return all;
    }
    const std::size_t count = devices.size();
    const std::size_t pairs = std::min<std::size_t>(count * (count - 1), max_pairs.value_or(~0U));
    for (std::size_t i = 0; i < pairs; ++i) {
        all.push_back({devices[i % count], devices[(i % count + i / count + 1) % count]});
    }
    std::ranges::sort(all, {}, [](const Ends& ends) { return std::pair{ends.first, ends.second}; });
    return all;
}

HostSide host_side_of(const sys::Topology& topology, const device::DeviceFacts& facts)
{
    HostSide side;
    if (topology.nodes.size() < 2) {
        return side;
    }
    const auto on_bus = std::ranges::find(topology.devices, facts.bus_address, &sys::PciDevice::address);
    const bool is_placed = !facts.bus_address.empty() && on_bus != topology.devices.end() && !on_bus->nodes.empty() &&
                           on_bus->nodes.size() < topology.nodes.size();
    side.node = is_placed ? std::optional{on_bus->nodes.front()} : facts.numa_node;
    side.told_by = is_placed ? "hwloc" : "runtime";
    const auto near = std::ranges::find_if(topology.nodes, [&](const auto& node) { return node.id == side.node; });
    if (near != topology.nodes.end()) {
        side.cpus = near->cpus;
    }
    return side;
}

std::vector<CopySpec> copies_of(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                                std::uint64_t bytes)
{
    const CopyEnd host{.device = ends.first, .kind = what.host};
    const CopyEnd own{.device = ends.first, .kind = MemoryKind::device};
    const CopySpec any{.stream_device = ends.first, .by_kernel = what.by_kernel, .bytes = bytes};
    const auto between = [&](CopyEnd from, CopyEnd to, std::uint32_t mover) {
        CopySpec spec = any;
        spec.from = from;
        spec.to = to;
        spec.stream_device = mover;
        spec.renewed = from.kind == MemoryKind::managed;
        return spec;
    };
    std::vector<CopySpec> queues;
    switch (what.kind) {
    case CaseKind::to_device:
        queues.push_back(between(host, own, ends.first));
        break;
    case CaseKind::from_device:
        queues.push_back(between(own, host, ends.first));
        break;
    case CaseKind::local:
        queues.push_back(between(own, own, ends.first));
        break;
    case CaseKind::peer: {
        const CopyEnd other{.device = ends.second.value_or(ends.first), .kind = MemoryKind::device};
        queues.push_back(between(own, other, what.reads ? other.device : own.device));
        break;
    }
    case CaseKind::all_to_host:
    case CaseKind::host_to_all:
    case CaseKind::all_to_one:
    case CaseKind::one_to_all:
        for (const std::uint32_t device : devices) {
            const CopyEnd pinned{.device = device, .kind = MemoryKind::pinned};
            const CopyEnd here{.device = device, .kind = MemoryKind::device};
            if (what.kind == CaseKind::all_to_host) {
                queues.push_back(between(here, pinned, device));
            } else if (what.kind == CaseKind::host_to_all) {
                queues.push_back(between(pinned, here, device));
            } else if (device != ends.first) {
                const bool to_one = what.kind == CaseKind::all_to_one;
                const std::uint32_t from = to_one ? device : ends.first;
                const std::uint32_t to = to_one ? ends.first : device;
                queues.push_back(between(to_one ? here : own, to_one ? own : here, what.reads ? to : from));
            }
        }
        break;
    case CaseKind::all_to_all:
    case CaseKind::ring:
    case CaseKind::bisection:
        for (const auto& [from, to] : pairs_at_once(what.kind, devices)) {
            queues.push_back(between({.device = from, .kind = MemoryKind::device},
                                     {.device = to, .kind = MemoryKind::device}, from));
        }
        break;
    case CaseKind::call:
    case CaseKind::locking:
    case CaseKind::staged_to_device:
    case CaseKind::staged_to_host:
    case CaseKind::loads:
    case CaseKind::peer_loads:
    case CaseKind::cached_loads:
    case CaseKind::prefetch_to_device:
    case CaseKind::prefetch_to_host:
    case CaseKind::beyond:
        break;
    }
    const std::size_t one_way = what.both_directions ? queues.size() : 0;
    for (std::size_t i = 0; i < one_way; ++i) {
        CopySpec back = queues[i];
        std::swap(back.from, back.to);
        if (what.kind == CaseKind::peer) {
            back.stream_device = what.reads ? back.to.device : back.from.device;
        }
        queues.push_back(back);
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
        queues[i].seed = i + 1;
        queues[i].streams_at_once = what.by_kernel ? static_cast<std::uint32_t>(std::ranges::count(
                                                         queues, queues[i].stream_device, &CopySpec::stream_device))
                                                   : 1;
    }
    return queues;
}

std::string unmet(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                  const device::Runtime& runtime)
{
    const bool is_with_host = what.kind == CaseKind::all_to_host || what.kind == CaseKind::host_to_all;
    const bool needs_two = is_of_pairs(what.kind) || (is_of_all(what.kind) && !is_with_host);
    if (needs_two && devices.size() < 2) {
        return "needs two devices";
    }
    if (const auto why = runtime.lacks(ends.first, what.host)) {
        return *why;
    }
    if (what.by_kernel && what.host == MemoryKind::pageable && !runtime.devices()[ends.first].reaches_ordinary) {
        return "kernels of this device do not reach ordinary memory";
    }
    if (what.call == DeviceCall::urgent_launch_beside && !runtime.has_priorities(ends.first)) {
        return "this device has streams of one priority alone";
    }
    if (what.kind == CaseKind::beyond) {
        if (const auto free = runtime.free_bytes(ends.first); !free) {
            return free.error().message;
        }
    }
    const bool prefetches = what.kind == CaseKind::prefetch_to_device || what.kind == CaseKind::prefetch_to_host ||
                            what.kind == CaseKind::beyond;
    if (prefetches && runtime.devices()[ends.first].shares_host_memory) {
        return "this device's memory is the host's: there is nothing to move";
    }
    if (what.kind == CaseKind::cached_loads && !runtime.devices()[ends.first].cache_bytes) {
        return "this runtime does not say how large the device's last cache is";
    }
    const bool is_star = what.kind == CaseKind::all_to_one || what.kind == CaseKind::one_to_all;
    for (const CopySpec& copy :
         is_star&& what.by_kernel ? copies_of(what, ends, devices, 1) : std::vector<CopySpec>{}) {
        const std::uint32_t other = copy.stream_device == copy.from.device ? copy.to.device : copy.from.device;
        if (const auto link = runtime.peer(copy.stream_device, other); !link.direct) {
            return link.reason;
        }
    }
    if (is_of_pairs(what.kind)) {
        const auto link = runtime.peer(ends.first, *ends.second);
        const bool by_kernel = what.by_kernel || what.kind == CaseKind::peer_loads;
        if (!link.copies || (by_kernel && !link.direct)) {
            return link.reason;
        }
    }
    return {};
}

void set_clock_facts(model::CaseReport& report, const std::optional<device::Clocks>& clocks, std::string_view when,
                     const std::optional<device::Clocks>& at_rest)
{
    if (!clocks) {
        return;
    }
    const auto words = [](std::uint64_t processors_hz, std::uint64_t memory_hz) {
        constexpr std::uint64_t mega = 1'000'000;
        return fmt::format("{} MHz, memory {} MHz", processors_hz / mega, memory_hz / mega);
    };
    const std::string rest =
        at_rest ? fmt::format("; {} at rest before", words(at_rest->processors_hz, at_rest->memory_hz)) : std::string{};
    set_fact(report, "clocks",
             fmt::format("{} {}{}; {} at most", words(clocks->processors_hz, clocks->memory_hz), when, rest,
                         words(clocks->max_processors_hz, clocks->max_memory_hz)));
    set_fact(report, "held_back_by", clocks->held_back_by.empty() ? std::string{"nothing"} : clocks->held_back_by);
}

void set_link_facts(model::CaseReport& report, const std::optional<device::HostLink>& link, std::string_view when,
                    const std::optional<device::HostLink>& at_rest)
{
    if (!link) {
        return;
    }
    const std::string rest =
        at_rest ? fmt::format(", PCIe {} x{} at rest before", at_rest->generation, at_rest->lanes) : std::string{};
    set_fact(report, "link",
             fmt::format("PCIe {} x{} {}{}; {} x{} at most", link->generation, link->lanes, when, rest,
                         link->max_generation, link->max_lanes));
}

}  // namespace memsweep::probe
