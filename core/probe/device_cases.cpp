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

DeviceCase by_kernel(DeviceCase what)
{
    what.by_kernel = true;
    return what;
}

DeviceCase both_directions(DeviceCase what)
{
    what.both_directions = true;
    return what;
}

// Moved by the engine of the destination.
DeviceCase reading(DeviceCase what)
{
    what.reads = true;
    return what;
}

DeviceCase call(std::string_view name, std::string_view meaning, DeviceCall call, std::uint64_t round_trip_bytes = 0)
{
    return {.name = name,
            .meaning = meaning,
            .kind = CaseKind::call,
            .host = call == DeviceCall::round_trip ? MemoryKind::pinned : MemoryKind::device,
            .call = call,
            .bytes = round_trip_bytes};
}

}  // namespace

const std::vector<DeviceCase>& device_cases()
{
    static const std::vector<DeviceCase> cases{
        {"host_to_device_memcpy_ce", "pinned host memory to a device by its copy engine", CaseKind::to_device},
        {"device_to_host_memcpy_ce", "a device to pinned host memory by its copy engine", CaseKind::from_device},
        both_directions({"host_to_device_bidirectional_memcpy_ce", "host to device while the other direction is busy",
                         CaseKind::to_device}),
        both_directions({"device_to_host_bidirectional_memcpy_ce", "device to host while the other direction is busy",
                         CaseKind::from_device}),
        reading({"device_to_device_memcpy_read_ce", "a peer's memory read by a copy engine", CaseKind::peer}),
        {"device_to_device_memcpy_write_ce", "a peer's memory written by a copy engine", CaseKind::peer},
        both_directions(reading({"device_to_device_bidirectional_memcpy_read_ce",
                                 "both directions between peers, reading", CaseKind::peer})),
        both_directions({"device_to_device_bidirectional_memcpy_write_ce", "both directions between peers, writing",
                         CaseKind::peer}),
        {"all_to_host_memcpy_ce", "every device to the host at once", CaseKind::all_to_host},
        both_directions({"all_to_host_bidirectional_memcpy_ce",
                         "every device to the host at once, while the host sends to each", CaseKind::all_to_host}),
        {"host_to_all_memcpy_ce", "the host to every device at once", CaseKind::host_to_all},
        both_directions({"host_to_all_bidirectional_memcpy_ce",
                         "the host to every device at once, while each sends to the host", CaseKind::host_to_all}),
        {"all_to_one_write_ce", "every device to one", CaseKind::all_to_one},
        reading({"all_to_one_read_ce", "one device reads every other", CaseKind::all_to_one}),
        {"one_to_all_write_ce", "one device to every other", CaseKind::one_to_all},
        reading({"one_to_all_read_ce", "every other device reads one", CaseKind::one_to_all}),
        {"all_to_all_write_ce", "every device to every other at once", CaseKind::all_to_all},
        {"ring_write_ce", "every device to the next one at once", CaseKind::ring},
        {"bisection_write_ce", "one half of the devices to the other and back at once", CaseKind::bisection},
        by_kernel({"host_to_device_memcpy_sm", "pinned host memory to a device by a kernel", CaseKind::to_device}),
        by_kernel({"device_to_host_memcpy_sm", "a device to pinned host memory by a kernel", CaseKind::from_device}),
        by_kernel(
            both_directions({"host_to_device_bidirectional_memcpy_sm",
                             "host to device by a kernel while another moves the other way", CaseKind::to_device})),
        by_kernel(
            both_directions({"device_to_host_bidirectional_memcpy_sm",
                             "device to host by a kernel while another moves the other way", CaseKind::from_device})),
        by_kernel(reading({"device_to_device_memcpy_read_sm", "a peer's memory read by a kernel", CaseKind::peer})),
        by_kernel({"device_to_device_memcpy_write_sm", "a peer's memory written by a kernel", CaseKind::peer}),
        by_kernel(both_directions(reading({"device_to_device_bidirectional_memcpy_read_sm",
                                           "both directions between peers by kernels, reading", CaseKind::peer}))),
        by_kernel(both_directions({"device_to_device_bidirectional_memcpy_write_sm",
                                   "both directions between peers by kernels, writing", CaseKind::peer})),
        by_kernel({"all_to_host_memcpy_sm", "every device to the host at once by kernels", CaseKind::all_to_host}),
        by_kernel(both_directions({"all_to_host_bidirectional_memcpy_sm",
                                   "the same, while the host's memory is read by each", CaseKind::all_to_host})),
        by_kernel({"host_to_all_memcpy_sm", "the host to every device at once by kernels", CaseKind::host_to_all}),
        by_kernel(both_directions({"host_to_all_bidirectional_memcpy_sm",
                                   "the same, while the host's memory is written by each", CaseKind::host_to_all})),
        by_kernel({"all_to_one_write_sm", "every device to one by kernels", CaseKind::all_to_one}),
        by_kernel(reading({"all_to_one_read_sm", "one device reads every other by kernels", CaseKind::all_to_one})),
        by_kernel({"one_to_all_write_sm", "one device to every other by kernels", CaseKind::one_to_all}),
        by_kernel(reading({"one_to_all_read_sm", "every other device reads one by kernels", CaseKind::one_to_all})),
        {"host_device_latency_sm", "a kernel's dependent loads of mapped host memory", CaseKind::loads,
         MemoryKind::mapped},
        {"device_to_device_latency_sm", "a kernel's dependent loads of a peer's memory", CaseKind::peer_loads,
         MemoryKind::device},
        {"device_local_latency_sm", "a kernel's dependent loads of its own device's memory", CaseKind::loads,
         MemoryKind::device},
        {"device_l2_latency_sm", "a kernel's dependent loads of what its own device's last cache holds",
         CaseKind::cached_loads, MemoryKind::device},
        {"device_local_copy", "a device's memory copied to itself", CaseKind::local},
        by_kernel({"device_local_copy_sm", "a device's memory copied to itself by a kernel", CaseKind::local}),
        {"host_to_device_pageable", "ordinary host memory to a device", CaseKind::to_device, MemoryKind::pageable},
        {"device_to_host_pageable", "a device to ordinary host memory", CaseKind::from_device, MemoryKind::pageable},
        by_kernel({"host_to_device_managed", "managed memory that the host wrote, moved as a kernel reads it",
                   CaseKind::to_device, MemoryKind::managed}),
        {"host_to_device_managed_prefetch", "managed memory that the host wrote, moved by the driver beforehand",
         CaseKind::prefetch_to_device, MemoryKind::managed},
        {"device_to_host_managed_prefetch", "managed memory that a kernel wrote, moved by the driver beforehand",
         CaseKind::prefetch_to_host, MemoryKind::managed},
        by_kernel(
            {"host_to_device_mapped", "mapped host memory read by a kernel", CaseKind::to_device, MemoryKind::mapped}),
        by_kernel({"device_to_host_mapped", "mapped host memory written by a kernel", CaseKind::from_device,
                   MemoryKind::mapped}),
        {"host_to_device_write_combined", "write-combined host memory to a device", CaseKind::to_device,
         MemoryKind::write_combined},
        {"host_to_device_staged", "ordinary host memory to a device through our ring of pinned slots",
         CaseKind::staged_to_device, MemoryKind::pinned},
        {"device_to_host_staged", "a device to ordinary host memory through our ring of pinned slots",
         CaseKind::staged_to_host, MemoryKind::pinned},
        call("kernel_launch_latency", "a kernel of one work item, queued and waited for", DeviceCall::launch),
        call("event_latency", "an event recorded and waited for", DeviceCall::event),
        call("stream_wait_latency", "waiting for a stream that has nothing to do", DeviceCall::idle_wait),
        call("host_device_round_trip_4B_ce", "4 bytes of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 4),
        call("host_device_round_trip_4KiB_ce", "4 KiB of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 4U << 10U),
        call("host_device_round_trip_64KiB_ce", "64 KiB of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 64U << 10U),
        {"host_register_cost", "registering ordinary memory with the device, and giving it back", CaseKind::locking,
         MemoryKind::registered},
    };
    return cases;
}

namespace {

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
    const bool prefetches = what.kind == CaseKind::prefetch_to_device || what.kind == CaseKind::prefetch_to_host;
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
