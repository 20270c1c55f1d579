// The cases of the device probe as a table, the devices on which each is measured, and the copies that it makes.
//
// Sources  A case that nvbandwidth (NVIDIA) also has gets its name from nvbandwidth, so that results of both tools can
//          be joined by name. The direction of the data is in the facts of each case, never in a caption.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/probe/copy_queue.hpp"
#include "core/probe/probe_case.hpp"

namespace memsweep::probe {

enum class CaseKind : std::uint8_t {
    to_device,
    from_device,
    peer,   // from one device to another, for each ordered pair of devices
    local,  // within the memory of one device
    all_to_host,
    host_to_all,
    all_to_one,
    one_to_all,
    all_to_all,        // at the same time: from every device to every other device
    ring,              // at the same time: from every device to the next device
    bisection,         // at the same time, both ways: between each device of one half and a partner in the other half
    locking,           // cost of registering host memory with the driver
    staged_to_device,  // through a ring of pinned slots
    staged_to_host,    // through a ring of pinned slots
    loads,             // latency of loads by a kernel
    peer_loads,        // latency of loads from another device's memory
    cached_loads,      // latency of loads from the device's last-level cache
    prefetch_to_device,
    prefetch_to_host,
    call,    // a call of the runtime, until what it started is done: see DeviceCall
    beyond,  // reading managed memory, which may be larger than the device's memory: see ManagedWay
};

// How managed memory reaches the kernel that reads it.
//   on_demand   by page faults
//   prefetched  by the driver's prefetch call, before each part is read
//   advised     not moved: the driver is advised to keep the memory on the host, where the device can reach it
enum class ManagedWay : std::uint8_t { on_demand, prefetched, advised };

// The call that is measured, by the work that it waits for.
//   launch                a kernel of one work item
//   launch_beside         as launch, while kernels of another stream fill the device
//   urgent_launch_beside  as launch_beside, but on a stream of the highest priority
//   event                 an event
//   idle_wait             nothing: the stream is idle
//   round_trip            a copy to the device and back
enum class DeviceCall : std::uint8_t { launch, launch_beside, urgent_launch_beside, event, idle_wait, round_trip };

struct DeviceCase {
    std::string_view name;
    std::string_view meaning;
    CaseKind kind{};
    device::MemoryKind host{device::MemoryKind::pinned};  // kind of the host memory
    bool by_kernel{};                                     // a kernel moves the bytes, not a copy engine
    bool both_directions{};                               // other copies go in the opposite direction at the same time
    bool reads{};             // between devices: the destination's device moves the bytes; otherwise the source's
    DeviceCall call{};        // for kind `call`
    std::uint64_t bytes{};    // of a round trip
    ManagedWay way{};         // for kind `beyond`
    std::uint32_t percent{};  // for kind `beyond`: size of managed block, in percent of the device memory left free
};
[[nodiscard]] const std::vector<DeviceCase>& device_cases();

// The device that a case is measured on, or the pair of devices.
struct Ends {
    std::uint32_t first{};
    std::optional<std::uint32_t> second;  // only of a pair
};

[[nodiscard]] std::string device_word(std::uint32_t device);  // "gpu0"

// Whether all devices take part in a case of this kind at the same time.
[[nodiscard]] bool is_of_all(CaseKind kind) noexcept;

// Whether a case of this kind is measured between two devices.
[[nodiscard]] bool is_of_pairs(CaseKind kind) noexcept;

// The devices of the runtime that the user chose; all of them if the user chose none.
[[nodiscard]] std::vector<std::uint32_t> chosen_devices(const ProbeContext& context, const device::Runtime& runtime);

// The devices, or the pairs of devices, on which a case is measured. There is only one entry if all devices take part
// at the same time, or if the case needs pairs and there is only one device. At most `max_pairs` pairs are returned,
// pairs of neighbouring numbers first. If `max_pairs` is a multiple of the number of devices, each device is the first
// and the second of a pair equally often.
[[nodiscard]] std::vector<Ends> ends_of(const DeviceCase& what, const std::vector<std::uint32_t>& devices,
                                        std::optional<std::uint32_t> max_pairs = std::nullopt);

// The NUMA node nearest to a device. The probe starts the device's copies from the processors of this node, and touches
// host memory there.
//
// Sources  the device's position on the PCI bus according to hwloc. If hwloc has none: the runtime's answer.
struct HostSide {
    std::optional<std::uint32_t> node;  // absent: unknown, or the machine has only one node
    std::string_view told_by;           // "hwloc" or "runtime"; empty on a machine with one node
    std::vector<std::uint32_t> cpus;    // the node's processors that this process may use; empty: use any
};
[[nodiscard]] HostSide host_side_of(const sys::Topology& topology, const device::DeviceFacts& facts);

// The copies of a case, each of `bytes` bytes. If the case has both directions, the second half of the list is the
// opposite direction of the first.
[[nodiscard]] std::vector<CopySpec> copies_of(const DeviceCase& what, Ends ends,
                                              const std::vector<std::uint32_t>& devices, std::uint64_t bytes);

// Why a case cannot be measured on this runtime; empty if it can be tried.
[[nodiscard]] std::string unmet(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                                const device::Runtime& runtime);

// Sets the fact `link`: the state of the PCIe link at the moment that `when` describes, its earlier state at rest, and
// its maximum. Sets nothing if `link` is absent.
void set_link_facts(model::CaseReport& report, const std::optional<device::HostLink>& link, std::string_view when,
                    const std::optional<device::HostLink>& at_rest);

// Sets the facts `clocks` and `held_back_by` (what limits the clocks): their values at the moment `when`, and their
// earlier values at rest.
void set_clock_facts(model::CaseReport& report, const std::optional<device::Clocks>& clocks, std::string_view when,
                     const std::optional<device::Clocks>& at_rest);

// The input of the measurements below. They measure something other than the copies of a CopyQueue.
//
// Units    bytes, seconds.
//
// Sources  Loads: one work item follows a random cycle over lines of 128 bytes. It visits no line twice within a sample
//          (except in the cached case), so no load finds a line that an earlier load fetched. The address of the last
//          load proves that the work item followed the cycle. (Chains in address order, such as nvbandwidth's, would be
//          faster, because consecutive loads share a DRAM page and a translation.)
//          Loads from device memory: before each sample, twice the size of the last-level cache is written, so that no
//          line of the chain is left in the cache.
//          Loads from the last-level cache: the cycle covers a quarter of the cache and is followed once before each
//          sample.
//          Staged copies: the ring of core/transfer/staged_copy.cpp, with both ends made anew for each sample.
//          Prefetches: the driver's call for managed memory.
//          Managed memory beyond the device's: first, device memory is allocated (the ballast) until only as much is
//          free as the case needs. So a card of 80 GiB can be measured as if it had 1 GiB. This takes less than a
//          second, and does not need 80 GiB of host memory. Then a kernel copies the managed block, part by part.
//
// Errors   those of device::Runtime. Wrong data make the case fail.
struct DeviceTask {
    const ProbeContext& context;
    device::Runtime& runtime;
    const DeviceCase& what;
    Ends ends;
    std::uint64_t bytes{};       // of a copy of this probe
    std::uint64_t load_bytes{};  // of each kernel that fills the device (launch_beside)
};

// Measures the time to register ordinary host memory with the driver and to unregister it.
[[nodiscard]] base::Expected<void> measure_locking(const DeviceTask& task, model::CaseReport& report);

// Measures the latency of loads by a kernel: from host memory, from another device's memory, or from its own device's
// memory.
[[nodiscard]] base::Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report);

// Measures the time of a call of the runtime that waits: see DeviceCall.
[[nodiscard]] base::Expected<void> measure_calls(const DeviceTask& task, model::CaseReport& report);

// Sets the latency of a load or a call. Each of `seconds` is a sample: the time of `each_of` loads or calls. Without
// samples the case is skipped.
void set_latencies_per_call(const std::vector<double>& seconds, std::uint64_t each_of, model::CaseReport& report);

[[nodiscard]] base::Expected<void> measure_staged(const DeviceTask& task, model::CaseReport& report);
[[nodiscard]] base::Expected<void> measure_prefetch(const DeviceTask& task, model::CaseReport& report);

// Measures how fast a kernel reads a block of managed memory in order, while the ballast (other memory that is only
// held) leaves little of the device's memory free.
[[nodiscard]] base::Expected<void> measure_beyond(const DeviceTask& task, model::CaseReport& report);

// Sets the case to failed, with the reason "wrong data in sample 3: ...".
void fail_sample(model::CaseReport& report, std::size_t sample, std::string_view what);

}  // namespace memsweep::probe
