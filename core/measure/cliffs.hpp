// Finds the sizes at which an allocator's cost jumps (cliffs), and names their known causes.
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
    SizeCost dear;   // the size that is one byte larger
};

struct SizeRange {
    std::uint64_t from{64};
    std::uint64_t to{64U << 20U};
    unsigned per_doubling{4};
};

// Measures the cost of allocating blocks of one size. The cost must not depend on sizes that were measured before, so
// each size needs a process of its own.
using CostOfSize = std::function<base::Expected<SizeCost>(std::uint64_t bytes)>;

struct CliffSurvey {
    std::vector<SizeCost> sizes;  // the sizes of the sweep, ascending
    std::vector<Cliff> cliffs;
};

[[nodiscard]] std::vector<std::uint64_t> sizes_of(const SizeRange& range);

// Sweeps over sizes, then narrows every jump down to a single byte, by bisection. A jump in faults is not measured
// again, because noise cannot cause it. A jump in time counts only under two conditions: the faults do not jump; and
// the sizes on both sides of the jump, measured three more times, show the jump in their fastest measurements again.
//
// Cost     one measurement per size of the sweep. For each jump, about log2(d) more, where d is the number of bytes
//          between two neighbouring sizes of the sweep; for a jump in time, six more.
// Errors   the first error that a measurement returns.
[[nodiscard]] base::Expected<CliffSurvey> find_cliffs(const SizeRange& range, const CostOfSize& cost_of);

// True if the larger size, `dear`, costs far more than `cheap`. For CliffKind::time: more than three times the time.
// For CliffKind::faults: more faults per operation than three times those of `cheap` and one more.
[[nodiscard]] bool is_cliff(CliffKind kind, const SizeCost& cheap, const SizeCost& dear);

// Settings of an allocator that are tried together.
using CliffSetting = std::vector<model::ChosenSetting>;

// The facts that decide where an allocator's limits lie.
struct AllocatorFacts {
    std::string_view name;      // as model::allocators() has it
    std::string_view version;   // as the allocator reports it, for example "2.36" or "5.3.0-0-g54e"; empty: not known
    model::Variables settings;  // the settings in its environment
};

// Known limits of allocators at which their cost jumps.
enum class CliffLimit : std::uint8_t {
    glibc_thread_cache,            // the end of the thread cache
    glibc_fast_bins,               // the end of the fast bins
    glibc_growing_mmap_threshold,  // the highest value that the mmap threshold grows to
    glibc_set_mmap_threshold,      // the mmap threshold, if one is set
    glibc_set_trim_threshold,      // the trim threshold, if one is set
    jemalloc_thread_cache,         // tcache_max
    jemalloc_old_thread_cache,     // lg_tcache_max, before 5.3
    jemalloc_small_classes,        // the end of the small classes, if the thread cache ends below it
    jemalloc_oversize_threshold,
    mimalloc_small_sizes,
    mimalloc_segment_pages,  // the end of the sizes that share pages of a segment
    mimalloc_half_segment,
    tcmalloc_classes,  // the end of the size classes
    tcmalloc_release,  // not a size, but the rate at which freed pages are returned
};

// The effects that a setting can have on a limit.
enum class LimitMoves : std::uint8_t {
    lifted,                // a setting raises or removes the limit
    lowered_only,          // settings can only lower the limit; if the cliff moves down with it, the limit is the cause
    compiled_in,           // no setting moves the limit
    compiled_in_cost_set,  // no setting moves the limit, but one changes the cost above it
};

// A known cause of a cliff, and the settings that should move the cliff.
struct CliffCause {
    CliffLimit limit{};
    std::span<const CliffSetting> settings;  // to be tried one after the other
    LimitMoves moves{};
};

// Returns the cause of a cliff; nullopt: not known. The size before the jump must equal a limit that the
// allocator has in this version and under these settings; for tcmalloc_release, it must lie above 256 KiB.
//
// Sources  64-bit builds. glibc, malloc/malloc.c (2.26 brought the thread cache, 2.42 let it hold large blocks) and
//          malloc(3), mallopt(3), "Memory Allocation Tunables"; jemalloc 5, include/jemalloc/internal/sc.h, tcache and
//          arena options in jemalloc(3); mimalloc 1.7 and 2.0, include/mimalloc-types.h; gperftools 2.10,
//          src/common.h. `memsweep cliffs` tries every setting and reports its real effect.
[[nodiscard]] std::optional<CliffCause> find_cause(const AllocatorFacts& allocator, const Cliff& cliff);

}  // namespace memsweep::measure
