// Finds the sizes at which an allocator's cost jumps, and names the causes of jumps that are known.
//
// Units    bytes; page faults and nanoseconds per operation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/allocator_settings.hpp"

namespace memsweep::measure {

struct SizeCost {
    std::uint64_t bytes{};
    double faults_per_op{};
    double ns_per_op{};
};

enum class CliffKind : std::uint8_t { faults, time };

struct Cliff {
    CliffKind kind{};
    SizeCost cheap;  // the last size before the jump
    SizeCost dear;   // one byte more
};

struct SizeRange {
    std::uint64_t from{64};
    std::uint64_t to{64U << 20U};
    unsigned per_doubling{4};
};

// Must not depend on the sizes measured before: each is measured in a process of its own.
using CostOfSize = std::function<base::Expected<SizeCost>(std::uint64_t bytes)>;

struct CliffSurvey {
    std::vector<SizeCost> sizes;  // the sweep's, ascending
    std::vector<Cliff> cliffs;
};

[[nodiscard]] std::vector<std::uint64_t> sizes_of(const SizeRange& range);

// Sweeps over sizes, then bisects every jump to the byte. A jump in faults is exact and decides first. A jump in time
// counts only if faults do not jump. It must still be there when both of its sides are measured again.
//
// Cost     one measurement per size of the sweep, and about log2 of the distance between two sizes for each cliff.
// Errors   the first that a measurement returns.
[[nodiscard]] base::Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of);

// True if the cost is more than three times as high, and for faults at least one more per operation.
[[nodiscard]] bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear);

// Settings of the cliff's allocator that are tried together.
using CliffSetting = std::vector<model::ChosenSetting>;

// The facts that decide where an allocator's limits lie.
struct AllocatorFacts {
    std::string_view name;      // as model::allocators() has it
    std::string_view version;   // as the allocator says it, "2.36" or "5.3.0-0-g54e"; empty: not known
    model::Variables settings;  // from its environment
};

// The limits of allocators that are known to make cliffs.
enum class CliffLimit : std::uint8_t {
    glibc_thread_cache,            // the end of the thread cache
    glibc_fast_bins,               // the end of the fast bins
    glibc_growing_mmap_threshold,  // the highest that the mmap threshold grows to
    glibc_set_mmap_threshold,      // the mmap threshold, where one is set
    glibc_set_trim_threshold,      // the trim threshold, where one is set
    jemalloc_thread_cache,         // tcache_max
    jemalloc_old_thread_cache,     // the same before 5.3: lg_tcache_max
    jemalloc_small_classes,        // the end of the small classes, where the thread keeps nothing
    jemalloc_oversize_threshold,
    mimalloc_small_sizes,
    mimalloc_segment_pages,  // the end of the sizes that share pages of a segment
    mimalloc_half_segment,
    tcmalloc_classes,  // the end of the size classes
    tcmalloc_release,  // no size: the rate at which freed pages are returned
};

// The effects that a setting can have on a limit.
enum class LimitMoves : std::uint8_t {
    lifted,                // a setting lifts it
    lowered_only,          // a setting moves it down alone, which shows that it is this limit
    compiled_in,           // no setting moves it
    compiled_in_cost_set,  // a setting changes what lies above it
};

// Why an allocator has a cliff that is known, and the settings that should move it.
struct CliffCause {
    CliffLimit limit{};
    std::span<const CliffSetting> settings;  // to try, one by one
    LimitMoves moves{};
};

// The cause of a cliff. It is named only if the cliff's last cheap size is the limit that the allocator has in its
// version and under its settings.
//
// Sources  64-bit builds. glibc, malloc/malloc.c (2.26 brought the thread cache, 2.42 let it hold large blocks) and
//          malloc(3), mallopt(3), "Memory Allocation Tunables"; jemalloc 5, include/jemalloc/internal/sc.h, tcache and
//          arena options in jemalloc(3); mimalloc 1.7 and 2.0, include/mimalloc-types.h; gperftools 2.10,
//          src/common.h. `memsweep cliffs` tries every setting and reports what it really did.
[[nodiscard]] std::optional<CliffCause> find_cause(const AllocatorFacts& allocator, const Cliff& cliff);

}  // namespace memsweep::measure
