// The probes of this machine: their inputs, their measurements, and their costs.
//
// Every probe reports cases of a result, one for each quantity. Their ids stand beside the functions.
//
// Units    bytes, seconds; cases carry one value per sample.
//
// Cost     Given for the default settings. If nothing can be measured, a probe returns at once.
//
// Errors   A probe returns none: a quantity that it cannot measure is a case with its status and reason. skipped: the
//          machine lacks what is needed, or memory for it; failed: wrong data; error: the kernel refused.
//
// Threads  Each probe starts and pins threads of its own; call it from one thread.
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
    std::optional<std::uint64_t> array_bytes;  // of each array of a kernel; absent: derived from the caches measured
    double sample_seconds{0.02};               // least time of a bandwidth sample; latencies take a third of it
    // Two probes are compared over all metrics at once. With 9 samples the least p is 2 / C(18, 9) = 4.1e-5: a change
    // can be shown among 1,200 noisy metrics. With 7 samples it is 85 metrics, fewer than a probe of everything has.
    std::uint32_t samples{9};
    std::uint64_t memory_budget_bytes{};  // the most that may be resident at a time
    std::uint64_t seed{1};
    bool ballast{};  // cases that take the whole memory of a device for a moment are measured too
};

struct ProbeContext {
    const sys::Clock& clock;
    ProbeSettings settings;
    std::vector<sys::NumaNode> nodes;      // those to measure, at least one
    std::vector<std::uint32_t> devices{};  // those to measure; empty: all
    std::optional<std::uint32_t> pairs{};  // how many pairs of these devices to measure; absent: all
    bool binds_memory{};                   // the machine has several nodes: memory is bound to one
    sys::Topology topology;
    std::function<void(const std::string&)> progress;  // is called with what is measured now
    std::function<bool()> stopped;                     // asked between samples
    std::function<bool(const std::string&)> wants{[](const std::string&) { return true; }};  // case id
};

// What this machine has, as facts: processors, caches, nodes, accelerators, page sizes, pressure. Nothing is timed.
// "probe_topology/part=processors", ".../part=l3_33554432", ".../part=node0", ".../part=pages", ".../part=pressure"
//
// Sources  sys::Topology, sys::huge_page_pools, sys::cgroup_share_used; the result's own `machine` says the rest.
[[nodiscard]] std::vector<model::CaseReport> probe_topology(const ProbeContext& context);

// The same facts about a runtime's devices. Without a device there is one skipped case, with the reason.
// "probe_topology/part=gpu0"
//
// Cost     that of PeerLink for each pair.
[[nodiscard]] std::vector<model::CaseReport> probe_device_facts(const device::Runtime& runtime);

// One line for each device: "gpu0: NVIDIA H200 (sm_90, CUDA 13.0)".
[[nodiscard]] std::vector<std::string> device_lines(const device::Runtime& runtime);

// The time of a load: by the size of the working set and of its pages, with several chains in flight, and while the
// other processors stream.
// "probe_latency/pages=thp/size=65536", "probe_parallel_loads/chains=4", "probe_loaded_latency/load=50"
//
// Sources  One pinned thread follows chains of random order within groups of pages (chase.hpp). The memory is one
//          mapping per page size, touched before anything is timed.
// Cost     about 4 s, half of it for building the chains.
// Memory   the largest set: 256 MiB, or less if the budget is smaller.
[[nodiscard]] std::vector<model::CaseReport> probe_latency(const ProbeContext& context);

// Bandwidth of memory from the processors beside it, with one thread and with all. It covers every kernel with
// plain and with non-temporal stores, and the C library's. `effective_cache`: see memory_array_bytes().
// "probe_bandwidth/kernel=copy/store=nt/threads=2"
//
// Sources  Cases run in rounds, so that a drift of the machine hits all alike. Each case runs the loop that was fastest
//          in a calibration on these arrays. Data are checked: all elements of one run before the samples, and the sum
//          of each read.
// Cost     about 15 s for 34 cases with the search for the cache (2-core Xeon of the Granite Rapids kind).
// Memory   three arrays, touched before anything is timed: see memory_array_bytes().
[[nodiscard]] std::vector<model::CaseReport> probe_bandwidth(const ProbeContext& context,
                                                             std::optional<std::uint64_t> effective_cache);

// Fills in ceiling_share: the share of the best median among cases of the same kind of kernel and other parameters.
void set_ceiling_shares(std::vector<model::CaseReport>& cases);

// Read, write, copy and latency for every pair of a node's processors and a node's memory. With one node there is one
// pair. A node without processors has a column and no row, one without memory a row and no column.
// "probe_numa/cpu_node=0/kernel=copy/mem_node=1"
//
// Sources  Memory is bound by mbind before its first touch, and proven by move_pages; kernels run on all processors of
//          a node.
// Cost     about 0.6 s a pair.
// Memory   three arrays of 64 MiB, or of the size given, on one node at a time; less if the budget or the node is
//          smaller.
[[nodiscard]] std::vector<model::CaseReport> probe_numa(const ProbeContext& context,
                                                        std::optional<std::uint64_t> effective_cache);

// The cost of the first write to a page, by kind of memory and size of page.
// "probe_faults/kind=first_touch/pages=4k"
//
// Sources  each call of sys::measure_fault_cost is one sample. Reserved huge pages, and memory that has not been used
//          lately, are touched here.
// Cost     about 1.5 s.
// Memory   64 MiB, and one reserved huge page of each size, if there is one.
[[nodiscard]] std::vector<model::CaseReport> probe_faults(const ProbeContext& context);

// Transfers to, from and between devices, and the cost of small calls of their runtime: one case for each kind and
// device, or pair of devices. A case that cannot be measured is listed too, with its reason.
// "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce"; without a device "probe_device/transfer=..."
//
// Sources  device_cases.hpp lists them; copy_queue.hpp has the methods. Every sample is verified.
// Cost     less than a millisecond without a device; with one about a dozen samples of sample_seconds a case.
[[nodiscard]] std::vector<model::CaseReport> probe_devices(const ProbeContext& context, device::Runtime& runtime);

// Transfers given in words, all of them at once: the bytes that arrive per second, for each and for all together.
// "probe_transfer/bytes=268435456/dst=host@node0/exe=cpu/src=host:pinned@node0". If there are several, each also has
// its number, as in nr=1, and "probe_transfers/at_once=2" is the case of all together.
//
// Sources  Every mover goes on until the time of a sample has passed for all, so that each is measured beside the
//          others from its first byte to its last. Copies run in the loop that was fastest in a calibration.
// Data     The destination is poisoned first, and every position has a value of its own. Every element is checked
//          before the first sample and after the last. If memory is only read, the sum of a pass is checked.
// Memory   Both ends of every transfer are touched before anything is timed, bound to the named node, and proven.
[[nodiscard]] std::vector<model::CaseReport> probe_transfers(const ProbeContext& context,
                                                             const std::vector<model::TransferSpec>& specs);

// The same if a device takes part in any of them. The transfers take the routes of core/transfer/route.hpp, and one
// thread starts them all. Facts name the route of each, and why. A transfer that this machine cannot make is skipped;
// the others go on without it.
[[nodiscard]] std::vector<model::CaseReport> probe_device_transfers(const ProbeContext& context,
                                                                    device::Runtime& runtime,
                                                                    const std::vector<model::TransferSpec>& specs);

// The working set at which a program falls out of the caches, found from latencies. It shows the share of the caches
// that the program really has, whatever a virtual machine advertises.
//
// Units    bytes, seconds per load.
struct SetLatency {
    std::uint64_t bytes{};
    double seconds{};
};

// Taken from the cases of probe_latency: sets on huge pages, or on base pages if there are none.
[[nodiscard]] std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases);

// The largest set whose loads take less than half as long as those of the largest set measured. Absent if even the
// smallest set takes more, or if the latencies have no such step.
[[nodiscard]] std::optional<std::uint64_t> effective_cache_bytes(const std::vector<SetLatency>& by_size);

// The same, measured now: sets from 1 to 128 MiB, doubled. Costs about half a second and 128 MiB; less memory if the
// budget is smaller.
[[nodiscard]] std::optional<std::uint64_t> measure_effective_cache(const ProbeContext& context);

// The bytes of each of three arrays that are large enough to measure the bandwidth of memory and not of caches. Each is
// four times the found cache and at least 256 MiB. Together they are at least twice the advertised cache. A small
// budget makes them smaller.
[[nodiscard]] std::uint64_t memory_array_bytes(std::optional<std::uint64_t> effective_cache,
                                               std::uint64_t advertised_cache, std::uint64_t budget_bytes);

}  // namespace memsweep::probe
