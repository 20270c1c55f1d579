// The cases of the device probe as a table, the devices that each is measured on, and the copies that it makes.
//
// Sources  The names are those of nvbandwidth (NVIDIA) where it has them, so that both tools' files can be joined by
//          them. The direction of the data is in the facts of each case, never in a caption.
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
    loads,         // latency of a kernel's loads
    peer_loads,    // the same, of a peer's memory
    cached_loads,  // the same, of what the device's last cache holds
    prefetch_to_device,
    prefetch_to_host,
    call,    // of the runtime, waited for: see DeviceCall
    beyond,  // managed memory that may be more than the card has room for: see ManagedWay
};

// How managed memory comes to the kernel that reads it: by faults; by the driver's own call before each part is read;
// or not at all, if the driver is advised to keep it on the host, in reach of the device.
enum class ManagedWay : std::uint8_t { on_demand, prefetched, advised };

// What a call waits for. launch: a kernel of one work item. launch_beside, urgent_launch_beside: the same while kernels
// of another stream fill the device, on a stream of usual priority or of the highest. event: an event. idle_wait:
// nothing. round_trip: a copy there and back.
enum class DeviceCall : std::uint8_t { launch, launch_beside, urgent_launch_beside, event, idle_wait, round_trip };

struct DeviceCase {
    std::string_view name;
    std::string_view meaning;
    CaseKind kind{};
    device::MemoryKind host{device::MemoryKind::pinned};
    bool by_kernel{};
    bool both_directions{};  // while the other direction is busy
    bool reads{};            // between devices: the destination's engine moves; otherwise the source's
    DeviceCall call{};
    std::uint64_t bytes{};  // of a round trip
    ManagedWay way{};
    std::uint32_t percent{};  // of the room on the card, that a block of managed memory has
};
[[nodiscard]] const std::vector<DeviceCase>& device_cases();

struct Ends {
    std::uint32_t first{};
    std::optional<std::uint32_t> second;  // of a pair
};

[[nodiscard]] std::string device_word(std::uint32_t device);  // "gpu0"

// Whether every device takes part at once.
[[nodiscard]] bool is_of_all(CaseKind kind) noexcept;

// Whether a case of this kind goes from one device to another.
[[nodiscard]] bool is_of_pairs(CaseKind kind) noexcept;

// The runtime's devices that were asked for; all of them, if none was.
[[nodiscard]] std::vector<std::uint32_t> chosen_devices(const ProbeContext& context, const device::Runtime& runtime);

// The devices, or the pairs of devices, that a case is measured on. It is one entry if the case is of all devices, or
// if there is no pair. At most `max_pairs` pairs are taken, those of near numbers first. If that is a multiple of the
// number of devices, every device is equally often the first and the second of a pair.
[[nodiscard]] std::vector<Ends> ends_of(const DeviceCase& what, const std::vector<std::uint32_t>& devices,
                                        std::optional<std::uint32_t> max_pairs = std::nullopt);

// The processors of this machine that are nearest to a device: its copies are asked for there, and host memory that is
// touched there is near it.
//
// Sources  hwloc's place of the device on the PCI bus; where hwloc shows none, what the runtime says.
struct HostSide {
    std::optional<std::uint32_t> node;  // absent: unknown, or the machine has one node
    std::string_view told_by;           // "hwloc", "runtime"
    std::vector<std::uint32_t> cpus;    // that this process may use; empty: wherever it runs
};
[[nodiscard]] HostSide host_side_of(const sys::Topology& topology, const device::DeviceFacts& facts);

// The copies of a case, each of so many bytes. If the case is of both directions, the second half of the copies goes in
// the other direction.
[[nodiscard]] std::vector<CopySpec> copies_of(const DeviceCase& what, Ends ends,
                                              const std::vector<std::uint32_t>& devices, std::uint64_t bytes);

// Why a case cannot be measured on this runtime; empty where it can be tried.
[[nodiscard]] std::string unmet(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                                const device::Runtime& runtime);

// Sets the fact `link`: the link as it was under load (`when` says at which moment) and at rest before, and the best
// that it could be.
void set_link_facts(model::CaseReport& report, const std::optional<device::HostLink>& link, std::string_view when,
                    const std::optional<device::HostLink>& at_rest);

// Sets the facts `clocks` and `held_back_by` in the same way.
void set_clock_facts(model::CaseReport& report, const std::optional<device::Clocks>& clocks, std::string_view when,
                     const std::optional<device::Clocks>& at_rest);

// Measurements of devices that are not copies on a queue.
//
// Units    bytes, seconds.
//
// Sources  Loads: one work item follows a random cycle over lines of 128 bytes. It meets no line twice within a sample,
//          so nothing that was fetched beside a line answers. The last load tells whether it followed the cycle.
//          (Chains in order, as nvbandwidth's, keep a DRAM page and a translation open.)
//          For loads of a device's memory, twice as much as its last cache holds is written before each sample, so that
//          nothing of the chain is left there.
//          For loads of that cache, the cycle covers a quarter of it and is followed once before each sample.
//          Staged copies: the ring of core/transfer/staged_copy.cpp, its ends made anew for each sample.
//          Prefetches: the driver's own call for managed memory.
//          Memory beyond the card: blocks of the device's own memory, the ballast, are taken until only as much is left
//          as the case wants. So a card of 80 GiB is measured as one of 1 GiB, within a second and without as much
//          memory of the host. A kernel copies the managed block part by part.
//
// Errors   those of device::Runtime; wrong data fail the case.
struct DeviceTask {
    const ProbeContext& context;
    device::Runtime& runtime;
    const DeviceCase& what;
    Ends ends;
    std::uint64_t bytes{};       // that a copy of this probe moves
    std::uint64_t load_bytes{};  // that each of the kernels copies that fill the device
};

// Measures the cost of registering ordinary memory, and of giving it back.
[[nodiscard]] base::Expected<void> measure_locking(const DeviceTask& task, model::CaseReport& report);

// Measures the seconds per load of a kernel from the host's memory, a peer's or its own.
[[nodiscard]] base::Expected<void> measure_loads(const DeviceTask& task, model::CaseReport& report);

// Measures the seconds per call of the runtime that is waited for: a kernel, an event, a copy there and back, or
// nothing.
[[nodiscard]] base::Expected<void> measure_calls(const DeviceTask& task, model::CaseReport& report);

// Sets samples of so many loads or calls each, as seconds per one of them; skips a case that has none.
void set_latencies_per_call(const std::vector<double>& seconds, std::uint64_t each_of, model::CaseReport& report);

[[nodiscard]] base::Expected<void> measure_staged(const DeviceTask& task, model::CaseReport& report);
[[nodiscard]] base::Expected<void> measure_prefetch(const DeviceTask& task, model::CaseReport& report);

// Reads a block of managed memory from its first byte to its last by a kernel, on a card that ballast has made small.
[[nodiscard]] base::Expected<void> measure_beyond(const DeviceTask& task, model::CaseReport& report);

// Fails the case: "wrong data in sample 3: ...".
void fail_sample(model::CaseReport& report, std::size_t sample, std::string_view what);

}  // namespace memsweep::probe
