// Where a program's working set falls out of the caches, told from latencies: what it has of them, whatever a virtual
// machine advertises.
//
// Units    bytes, seconds per load.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/probe/probe.hpp"

namespace memsweep::probe {

struct SetLatency {
    std::uint64_t bytes{};
    double seconds{};
};

// Of the cases of probe_latency: those of sets on huge pages, or on base pages where there are none.
[[nodiscard]] std::vector<SetLatency> latencies_by_size(const std::vector<model::CaseReport>& cases);

// The largest set whose loads take less than half of what those of the largest set take; absent where even the smallest
// takes more, or the latencies have no such step.
[[nodiscard]] std::optional<std::uint64_t> effective_cache_bytes(const std::vector<SetLatency>& by_size);

// The same, measured now: sets from 1 to 128 MiB, doubled. Costs about half a second and 128 MiB; less memory where the
// budget is smaller.
[[nodiscard]] std::optional<std::uint64_t> measure_effective_cache(const ProbeContext& context);

// Of each of three arrays that a bandwidth of memory, not of caches, is measured over: four times the cache found, at
// least 256 MiB, and together at least twice the cache that is advertised; no more than the budget allows.
[[nodiscard]] std::uint64_t memory_array_bytes(std::optional<std::uint64_t> effective_cache,
                                               std::uint64_t advertised_cache, std::uint64_t budget_bytes);

}  // namespace memsweep::probe
