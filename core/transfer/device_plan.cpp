#include "core/transfer/device_plan.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace memsweep::transfer {

using device::MemoryKind;
using Way = DeviceCase::Way;

namespace {

// Who sends to whom.
std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_at_once(Way way, const std::vector<std::uint32_t>& devices)
{
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    const std::size_t count = devices.size();
    const std::size_t half = count / 2;  // of an odd number the last one is left out
    for (std::size_t i = 0; i < count; ++i) {
        if (way == Way::ring) {
            pairs.emplace_back(devices[i], devices[(i + 1) % count]);
        } else if (way == Way::bisection && i < half) {
            pairs.emplace_back(devices[i], devices[i + half]);
            pairs.emplace_back(devices[i + half], devices[i]);
        }
        for (std::size_t j = 0; way == Way::all_to_all && j < count; ++j) {
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

bool is_of_all(Way way) noexcept
{
    switch (way) {
    case Way::all_to_host:
    case Way::host_to_all:
    case Way::all_to_one:
    case Way::one_to_all:
    case Way::all_to_all:
    case Way::ring:
    case Way::bisection:
        return true;
    default:
        return false;
    }
}

bool is_of_pairs(Way way) noexcept
{
    return way == Way::peer || way == Way::peer_loads;
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
                          std::optional<std::uint32_t> most_pairs)
{
    const Ends first{devices.front(), std::nullopt};
    if (is_of_all(what.way) || (is_of_pairs(what.way) && devices.size() < 2)) {
        return {first};  // one case for all of them, or one that says that there is no pair
    }
    std::vector<Ends> all;
    if (!is_of_pairs(what.way)) {
        std::ranges::transform(devices, std::back_inserter(all), [](std::uint32_t one) {
            return Ends{one, std::nullopt};
        });
        return all;
    }
    const std::size_t count = devices.size();
    const std::size_t pairs = std::min<std::size_t>(count * (count - 1), most_pairs.value_or(~0U));
    for (std::size_t i = 0; i < pairs; ++i) {
        all.push_back({devices[i % count], devices[(i % count + i / count + 1) % count]});
    }
    std::ranges::sort(all, {}, [](const Ends& ends) { return std::pair{ends.first, ends.second}; });
    return all;
}

std::vector<LaneSpec> lanes_of(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                               std::uint64_t bytes)
{
    const LaneEnd host{.device = ends.first, .kind = what.host};
    const LaneEnd own{.device = ends.first, .kind = MemoryKind::device};
    const LaneSpec any{.stream_device = ends.first, .by_kernel = what.by_kernel, .bytes = bytes};
    const auto between = [&](LaneEnd from, LaneEnd to, std::uint32_t mover) {
        LaneSpec spec = any;
        spec.from = from;
        spec.to = to;
        spec.stream_device = mover;
        spec.renewed = from.kind == MemoryKind::managed;
        return spec;
    };
    std::vector<LaneSpec> lanes;
    switch (what.way) {
    case Way::to_device:
        lanes.push_back(between(host, own, ends.first));
        break;
    case Way::from_device:
        lanes.push_back(between(own, host, ends.first));
        break;
    case Way::local:
        lanes.push_back(between(own, own, ends.first));
        break;
    case Way::peer: {
        const LaneEnd other{.device = ends.second.value_or(ends.first), .kind = MemoryKind::device};
        lanes.push_back(between(own, other, what.reads ? other.device : own.device));
        break;
    }
    case Way::all_to_host:
    case Way::host_to_all:
    case Way::all_to_one:
    case Way::one_to_all:
        for (const std::uint32_t device : devices) {
            const LaneEnd pinned{.device = device, .kind = MemoryKind::pinned};
            const LaneEnd here{.device = device, .kind = MemoryKind::device};
            if (what.way == Way::all_to_host) {
                lanes.push_back(between(here, pinned, device));
            } else if (what.way == Way::host_to_all) {
                lanes.push_back(between(pinned, here, device));
            } else if (device != ends.first) {
                lanes.push_back(what.way == Way::all_to_one ? between(here, own, device)
                                                            : between(own, here, ends.first));
            }
        }
        break;
    case Way::all_to_all:
    case Way::ring:
    case Way::bisection:
        for (const auto& [from, to] : pairs_at_once(what.way, devices)) {
            lanes.push_back(between({.device = from, .kind = MemoryKind::device},
                                    {.device = to, .kind = MemoryKind::device}, from));
        }
        break;
    case Way::launch:
    case Way::event:
    case Way::idle_wait:
    case Way::round_trip:
    case Way::locking:
    case Way::staged_to_device:
    case Way::staged_to_host:
    case Way::loads:
    case Way::peer_loads:
    case Way::prefetch_to_device:
    case Way::prefetch_to_host:
        break;
    }
    if (what.both_ways && !lanes.empty()) {
        LaneSpec back = lanes.front();
        std::swap(back.from, back.to);
        if (what.way == Way::peer) {
            back.stream_device = what.reads ? back.to.device : back.from.device;
        }
        lanes.push_back(back);
    }
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        lanes[i].seed = i + 1;
    }
    return lanes;
}

std::string unmet(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                  const device::Runtime& runtime)
{
    const bool needs_two = is_of_pairs(what.way) || is_of_all(what.way);
    if (needs_two && devices.size() < 2) {
        return "needs two devices";
    }
    if (const auto why = runtime.lacks(ends.first, what.host)) {
        return *why;
    }
    const bool prefetches = what.way == Way::prefetch_to_device || what.way == Way::prefetch_to_host;
    if (prefetches && runtime.devices()[ends.first].shares_host_memory) {
        return "this device's memory is the host's: there is nothing to move";
    }
    if (is_of_pairs(what.way)) {
        const auto link = runtime.peer(ends.first, *ends.second);
        const bool by_kernel = what.by_kernel || what.way == Way::peer_loads;
        if (!link.copies || (by_kernel && !link.direct)) {
            return link.reason;
        }
    }
    return {};
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
                         link->largest_generation, link->largest_lanes));
}

}  // namespace memsweep::transfer
