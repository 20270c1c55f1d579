#include "core/transfer/device_plan.hpp"

#include <utility>

#include <fmt/format.h>

namespace memsweep::transfer {

using device::MemoryKind;
using Way = DeviceCase::Way;

std::string device_word(std::uint32_t device)
{
    return fmt::format("gpu{}", device);
}

bool is_of_all(Way way) noexcept
{
    return way == Way::all_to_host || way == Way::host_to_all || way == Way::all_to_one || way == Way::one_to_all;
}

std::vector<Ends> ends_of(const DeviceCase& what, std::uint32_t devices)
{
    std::vector<Ends> all;
    for (std::uint32_t first = 0; first < devices; ++first) {
        if (what.way != Way::peer) {
            all.push_back({first, std::nullopt});
            continue;
        }
        for (std::uint32_t second = 0; second < devices; ++second) {
            if (first != second) {
                all.push_back({first, second});
            }
        }
    }
    if (is_of_all(what.way) || all.empty()) {
        all.assign(1, {0, std::nullopt});  // one case for all of them, or one that says that there is no pair
    }
    return all;
}

std::vector<LaneSpec> lanes_of(const DeviceCase& what, Ends ends, const device::Runtime& runtime, std::uint64_t bytes)
{
    const auto count = static_cast<std::uint32_t>(runtime.devices().size());
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
        for (std::uint32_t device = 0; device < count; ++device) {
            const LaneEnd pinned{.device = device, .kind = MemoryKind::pinned};
            const LaneEnd here{.device = device, .kind = MemoryKind::device};
            if (what.way == Way::all_to_host) {
                lanes.push_back(between(here, pinned, device));
            } else if (what.way == Way::host_to_all) {
                lanes.push_back(between(pinned, here, device));
            } else if (device != 0) {
                const LaneEnd one{.device = 0, .kind = MemoryKind::device};
                lanes.push_back(what.way == Way::all_to_one ? between(here, one, device) : between(one, here, 0));
            }
        }
        break;
    case Way::locking:
    case Way::staged:
    case Way::loads:
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

std::string unmet(const DeviceCase& what, Ends ends, const device::Runtime& runtime)
{
    const bool needs_two = what.way == Way::peer || is_of_all(what.way);
    if (needs_two && runtime.devices().size() < 2) {
        return "needs two devices";
    }
    if (what.way == Way::loads) {
        return "no kernel of dependent loads is in this memsweep";
    }
    if (what.way == Way::staged) {
        return fmt::format("its ring has depth and chunks of its own: memsweep probe 'host -> {0}.ce -> {0}'",
                           device_word(ends.first));
    }
    if (const auto why = runtime.lacks(ends.first, what.host)) {
        return *why;
    }
    if (what.way == Way::peer) {
        const auto link = runtime.peer(ends.first, *ends.second);
        if (!link.copies || (what.by_kernel && !link.direct)) {
            return link.reason;
        }
    }
    return {};
}

}  // namespace memsweep::transfer
