// The probes, which measure this machine: their inputs, what they measure, and what they cost.
//
// A probe returns one case for each quantity. The comment of each probe has examples of its case ids, in quotes.
//
// Units    bytes, seconds; a case has one value per sample.
//
// Cost     given for the default settings. A probe that cannot measure anything returns immediately.
//
// Errors   none. If a quantity cannot be measured, its case has a status and a reason. skipped: the machine lacks the
//          hardware or the memory; failed: data were wrong; error: the kernel refused.
//
// Threads  call each probe from one thread. The probe starts and pins threads of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/device/runtime.hpp"
#include "core/model/report.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/topology.hpp"

namespace memsweep::probe {

struct ProbeSettings {
    std::optional<std::uint64_t> array_bytes;  // size of each array of a kernel; absent: memory_array_bytes()
    double sample_seconds{0.02};               // shortest bandwidth sample; a latency sample takes a third of it
    // How many samples each case has. A comparison of two probes tests all metrics together. With 9 samples per probe
    // the smallest possible p is 2 / C(18, 9) = 4.1e-5. This is enough to show a change among 1,200 noisy metrics. 7
    // samples would be enough for 85 metrics, but a probe of everything has more metrics.
    std::uint32_t samples{9};
    std::uint64_t memory_budget_bytes{};  // the most memory that may be resident at any time
    std::uint64_t seed{1};
    bool ballast{};  // also measure the cases that briefly fill the whole memory of a device
};

struct ProbeContext {
    const sys::Clock& clock;
    ProbeSettings settings;
    std::vector<sys::NumaNode> nodes;      // the nodes to measure, at least one
    std::vector<std::uint32_t> devices{};  // the devices to measure; empty: all
    std::optional<std::uint32_t> pairs{};  // how many pairs of `devices` to measure; absent: all pairs
    bool binds_memory{};                   // bind memory to one node; useful on machines with several nodes
    sys::Topology topology;
    std::function<void(const std::string&)> progress;  // called with the name of the next measurement
    std::function<bool()> stopped;                     // called between samples; true: stop measuring
    std::function<bool(const std::string&)> wants{[](const std::string&) { return true; }};  // by case id: measure it?
};

// Facts about this machine: processors, caches, nodes, accelerators, page sizes, memory pressure. Nothing is timed.
// "probe_topology/part=processors", ".../part=l3_33554432", ".../part=node0", ".../part=pages", ".../part=pressure"
//
// Sources  sys::Topology, sys::huge_page_pools, sys::cgroup_share_used. Other facts are in the result's `machine`.
[[nodiscard]] std::vector<model::CaseReport> probe_topology(const ProbeContext& context);

// Facts about the devices of a runtime. Without a device there is one skipped case, with the reason.
// "probe_topology/part=gpu0"
//
// Cost     one device::PeerLink query for each pair of devices.
[[nodiscard]] std::vector<model::CaseReport> probe_device_facts(const device::Runtime& runtime);

// One line for each device: "gpu0: NVIDIA H200 (sm_90, CUDA 13.0)".
[[nodiscard]] std::vector<std::string> device_lines(const device::Runtime& runtime);

// The time of a load, measured in three ways: for several sizes of the working set and of its pages; with several
// chains of loads at the same time; and while the other processors move data through memory.
// "probe_latency/pages=thp/size=65536", "probe_parallel_loads/chains=4", "probe_loaded_latency/load=50"
//
// Sources  one pinned thread follows chains of pointers, in random order within groups of pages (chase.hpp). Each page
//          size has one mapping, touched before anything is timed.
// Cost     about 4 s, half of it for building the chains.
// Memory   the largest working set: 256 MiB, or less if the budget is smaller.
[[nodiscard]] std::vector<model::CaseReport> probe_latency(const ProbeContext& context);

// Bandwidth between memory and the processors of the same node, with one thread and on all processors. The cases
// are every kernel with plain and with non-temporal stores, and memset and memcpy. `effective_cache`: see
// memory_array_bytes().
// "probe_bandwidth/kernel=copy/store=nt/threads=2"
//
// Sources  cases run in rounds, so that a drift of the machine affects all of them alike. Each case runs the loop that
//          was fastest in a calibration on the same arrays. Before the samples, one run is made and every element is
//          checked. The sum of every read is checked too.
// Cost     about 15 s for 34 cases, including measure_effective_cache() (2-core Xeon, Granite Rapids).
// Memory   three arrays, touched before anything is timed: see memory_array_bytes().
[[nodiscard]] std::vector<model::CaseReport> probe_bandwidth(const ProbeContext& context,
                                                             std::optional<std::uint64_t> effective_cache);

// Fills in ceiling_share: a case's bandwidth divided by the best median among comparable cases. Comparable cases do the
// same work and differ only in the kind of store. A memcpy counts as a copy, a memset as a write.
void set_ceiling_shares(std::vector<model::CaseReport>& cases);

// Matrices of read, write and copy bandwidth and of latency: a row for each node with processors, a column for each
// node with memory.
// "probe_numa/cpu_node=0/kernel=copy/mem_node=1"
//
// Sources  mbind binds memory before its first touch, and move_pages proves where it lies. Kernels run on all
//          processors of a node.
// Cost     about 0.6 s for each pair of nodes.
// Memory   three arrays on one node at a time. Each has `array_bytes`, if given, else 64 MiB or four times the
//          effective cache, whichever is more. The arrays are smaller if the budget or the node is too small for them.
[[nodiscard]] std::vector<model::CaseReport> probe_numa(const ProbeContext& context,
                                                        std::optional<std::uint64_t> effective_cache);

// The cost of the first write to a page, by kind of memory and size of page.
// "probe_faults/kind=first_touch/pages=4k"
//
// Sources  each call of sys::measure_fault_cost is one sample. The probe itself measures reserved huge pages, and
//          memory that the machine has not used lately.
// Cost     about 1.5 s.
// Memory   64 MiB, and one page of each size of reserved huge pages.
[[nodiscard]] std::vector<model::CaseReport> probe_faults(const ProbeContext& context);

// Transfers to, from and between devices, and the cost of small calls of their runtime. Each kind of measurement has
// one case for each device, or for each pair of devices. A case that cannot be measured is listed with the reason.
// "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce"; without a device "probe_device/transfer=..."
//
// Sources  device_cases.hpp lists the kinds; copy_queue.hpp has the methods. The data of every sample are verified.
// Cost     without a device: less than a millisecond. With one: about 12 samples of sample_seconds for each case.
[[nodiscard]] std::vector<model::CaseReport> probe_devices(const ProbeContext& context, device::Runtime& runtime);

// Transfers that the user specified, all running at the same time. Measures the bytes that arrive per second, for each
// transfer and for all together.
// "probe_transfer/bytes=268435456/dst=host@node0/exe=cpu/src=host:pinned@node0". If there are several transfers, the id
// of each also has a number (nr=1), and "probe_transfers/at_once=2" is the case for all transfers together.
//
// Sources  no transfer stops before the sample has ended for all transfers. So while a transfer is measured, all other
//          transfers run. Copies run the loop that was fastest in a calibration.
// Data     the destination is first filled with values that the copy never writes. All values depend on the position.
//          Every element is checked before the first sample and after the last. If memory is only read, the sum of one
//          pass is checked.
// Memory   each end of a transfer is bound to the node that the user named for it, and touched before anything is
//          timed. The kernel's page locations prove the binding.
[[nodiscard]] std::vector<model::CaseReport> probe_transfers(const ProbeContext& context,
                                                             const std::vector<model::TransferSpec>& specs);

// Does the same as probe_transfers() if at least one of the transfers involves a device. Each transfer takes a route of
// core/transfer/route.hpp; facts of its case name the route and say why it was chosen. One thread starts all transfers.
// A transfer that this machine cannot make is skipped, and the remaining transfers run without it.
[[nodiscard]] std::vector<model::CaseReport> probe_device_transfers(const ProbeContext& context,
                                                                    device::Runtime& runtime,
                                                                    const std::vector<model::TransferSpec>& specs);

// The functions below find the effective cache size: the largest working set that still fits in the caches, judged by
// measured latencies. A virtual machine may advertise a larger cache than a program can use.

// The latency that was measured for one size of the working set.
struct SetLatency {
    std::uint64_t bytes{};  // size of the working set
    double seconds{};       // per load
};

// The shortest latency of each working set, from the cases of probe_latency(): on transparent huge pages, or on base
// pages if no case has huge ones.
[[nodiscard]] std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases);

// The largest working set whose latency is less than half of the latency of the largest set measured. Absent if no set
// has such a latency.
[[nodiscard]] std::optional<std::uint64_t> effective_cache_bytes(const std::vector<SetLatency>& by_size);

// Measures the latencies now, for sets of 1, 2, 4, ... 128 MiB, and applies effective_cache_bytes(). Costs about half a
// second and 128 MiB of memory, less if the budget is smaller.
[[nodiscard]] std::optional<std::uint64_t> measure_effective_cache(const ProbeContext& context);

// The size of each of three arrays, in bytes: large enough that kernels over them measure memory and not caches. An
// array has at least 256 MiB, and at least four times the size of the effective cache. The three arrays together have
// at least twice the size of the advertised cache. If they do not fit in the budget, each gets a third of the budget.
[[nodiscard]] std::uint64_t memory_array_bytes(std::optional<std::uint64_t> effective_cache,
                                               std::uint64_t advertised_cache, std::uint64_t budget_bytes);

}  // namespace memsweep::probe
