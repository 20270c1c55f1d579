// The transfers that a probe of devices measures, as a table.
//
// Sources  the names are those of nvbandwidth (NVIDIA) where it has them, so that both tools' files can be joined by
// them;
//          the direction of the data is in the facts of each case, never in a caption.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/device/facts.hpp"

namespace memsweep::transfer {

struct DeviceCase {
    enum class Way : std::uint8_t {
        to_device,
        from_device,
        peer,   // from each device to each other one
        local,  // a device's memory to itself
        all_to_host,
        host_to_all,
        all_to_one,
        one_to_all,
        all_to_all,        // each to each other one at once
        ring,              // each to the next one at once
        bisection,         // each of one half to its partner in the other, and back, at once
        locking,           // what registering memory costs
        staged_to_device,  // through a ring of pinned slots
        staged_to_host,
        loads,       // latency of a kernel's loads
        peer_loads,  // the same, of a peer's memory
        prefetch_to_device,
        prefetch_to_host,
        launch,      // what is waited for: a kernel of one work item,
        event,       // an event,
        idle_wait,   // nothing,
        round_trip,  // a copy there and back
    };
    std::string_view name;
    std::string_view meaning;
    Way way{};
    device::MemoryKind host{device::MemoryKind::pinned};
    bool by_kernel{};
    bool both_ways{};       // while the other direction is busy
    bool reads{};           // peer: the destination's engine moves; otherwise the source's
    std::uint64_t bytes{};  // of a round trip
};
[[nodiscard]] const std::vector<DeviceCase>& device_cases();

}  // namespace memsweep::transfer
