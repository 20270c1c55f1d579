// The cases of the probe of devices, a row each.
#include "core/probe/device_cases.hpp"

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

// A block of managed memory, so large in relation to what the card has left.
DeviceCase managed(std::string_view name, std::uint32_t percent, ManagedWay way)
{
    DeviceCase what{.name = name, .kind = CaseKind::beyond, .host = MemoryKind::managed, .by_kernel = true};
    what.meaning = way == ManagedWay::on_demand    ? "managed memory beside ballast, moved as a kernel reads it"
                   : way == ManagedWay::prefetched ? "the same, each part moved by the driver before it is read"
                                                   : "the same, kept on the host and read over the link";
    what.way = way;
    what.percent = percent;
    return what;
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
        by_kernel({"host_to_device_pageable_sm", "ordinary host memory read by a kernel where it lies",
                   CaseKind::to_device, MemoryKind::pageable}),
        by_kernel({"device_to_host_pageable_sm", "ordinary host memory written by a kernel where it lies",
                   CaseKind::from_device, MemoryKind::pageable}),
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
        call("busy_launch_latency", "the same, while kernels of another stream fill the device",
             DeviceCall::launch_beside),
        call("busy_launch_latency_urgent", "the same, by a stream of the highest priority",
             DeviceCall::urgent_launch_beside),
        call("event_latency", "an event recorded and waited for", DeviceCall::event),
        call("stream_wait_latency", "waiting for a stream that has nothing to do", DeviceCall::idle_wait),
        call("host_device_round_trip_4B_ce", "4 bytes of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 4),
        call("host_device_round_trip_4KiB_ce", "4 KiB of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 4U << 10U),
        call("host_device_round_trip_64KiB_ce", "64 KiB of pinned memory to a device and back, waited for",
             DeviceCall::round_trip, 64U << 10U),
        managed("managed_50_percent_on_demand", 50, ManagedWay::on_demand),
        managed("managed_50_percent_prefetch", 50, ManagedWay::prefetched),
        managed("managed_50_percent_advise", 50, ManagedWay::advised),
        managed("managed_100_percent_on_demand", 100, ManagedWay::on_demand),
        managed("managed_100_percent_prefetch", 100, ManagedWay::prefetched),
        managed("managed_100_percent_advise", 100, ManagedWay::advised),
        managed("managed_150_percent_on_demand", 150, ManagedWay::on_demand),
        managed("managed_150_percent_prefetch", 150, ManagedWay::prefetched),
        managed("managed_150_percent_advise", 150, ManagedWay::advised),
        {"host_register_cost", "registering ordinary memory with the device, and giving it back", CaseKind::locking,
         MemoryKind::registered},
    };
    return cases;
}

}  // namespace memsweep::probe
