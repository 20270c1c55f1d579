// The smallest capacity in which a trace fits, per placement policy.
//
// Units    bytes; events are numbered as `memsweep info` counts them, from 1.
// Cost     one pass over the operations per policy, 10 to 200 ns each; some 30 passes where growth depends on capacity.
// Memory   16 bytes an operation, and what the policy keeps of live blocks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/trace/placement.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// Allocations and frees of a trace, with recycled block numbers.
struct PlacementOps {
    struct Op {
        std::uint64_t size{};  // 0 with is_free
        std::uint32_t block{};
        bool is_free{};
    };
    std::vector<Op> ops;
    std::vector<std::uint64_t> events;  // of each operation, the event's number
    std::uint64_t live_peak{};
    std::uint64_t end_live_blocks{};
    bool on_device{};
};

// All processes and memories of the trace share one arena.
[[nodiscard]] PlacementOps placement_ops(TraceReader& reader);

struct FitFailure {
    std::uint64_t event{};
    std::uint64_t size{};
    std::uint64_t live_bytes{};
    std::uint64_t largest_hole{};
    std::uint64_t run{};
};

struct FitOptions {
    std::optional<std::uint64_t> capacity;
    std::uint64_t alignment{16};
    std::uint64_t runs{1};  // the same operations again and again; what a run leaves live is freed at its end
};

struct PolicyFit {
    std::string_view policy;
    std::uint64_t capacity{};
    double ratio{};  // to the live peak: 1 plus the realized fragmentation
    std::vector<std::uint64_t> needed_after_run;
    // At the capacity asked for (absent: everything fits), or else at one byte less than the smallest.
    std::optional<FitFailure> first_failure;
};

[[nodiscard]] PolicyFit fit(const PlacementOps& ops, const PlacementPolicy& policy, const FitOptions& options);

// The first operation that a capacity is too small for.
[[nodiscard]] std::optional<FitFailure> first_failure(const PlacementOps& ops, const PlacementPolicy& policy,
                                                      std::uint64_t capacity, const FitOptions& options);

}  // namespace memsweep::trace
