// Release disciplines. After the last handle on a buffer is gone, a discipline decides when the buffer is really freed,
// and by which thread.
//
// A discipline can only delay a real deallocate; it never fakes one. Disciplines that reuse memory (pools, arenas) also
// decide where a new buffer comes from.
//
// Units    bytes, blocks, counts, nanoseconds of the steady clock.
// Cost     unreachable() is part of the measured time. For refcount this call costs the free itself; for a
//          discipline that delays frees, usually a list push, a clock read and counters.
// Threads  any thread may make any call at any time, except for scopes, which belong to one thread.
// Ownership  holds the blocks that it delays, and frees them when it is destroyed. A discipline whose purpose is to
//            leak does not free them.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>

#include "core/lifetime/block.hpp"
#include "core/lifetime/floating.hpp"
#include "core/lifetime/slab.hpp"
#include "core/memory/clock.hpp"
#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::lifetime {

using memory::steady_ns;

// Each field is exact, but while other threads work, the fields are read at different instants. The fields in `sums`
// count since the last reset_counts().
struct DisciplineStats {
    std::uint64_t floating_bytes{};  // last handle dropped, not freed yet
    std::uint64_t floating_blocks{};
    std::uint64_t floating_bytes_peak{};
    std::uint64_t queue_depth{};  // floating blocks that a collection has found and that are not freed yet
    std::uint64_t queue_depth_peak{};
    std::uint64_t collections{};
    std::uint64_t collections_avoided{};  // collections that manual frees made unnecessary
    std::uint64_t pause_ns{};             // how long collections stopped the program
    std::uint64_t pause_max_ns{};
    std::uint64_t stalls{};  // sleeps of allocations that waited for memory under a cap
    std::uint64_t stall_ns{};
    std::uint64_t finalizers_registered{};
    std::uint64_t freed_early{};       // by the program itself
    std::uint64_t escapes{};           // handles that outlived their arena's scope
    std::uint64_t skipped_restores{};  // scopes that an exception left, so that their memory was not freed
    std::uint64_t bumped_bytes{};
    std::uint64_t slabs{};  // acquired by an arena
    std::uint64_t cache_hits{};
    std::uint64_t cache_misses{};
    std::uint64_t idle_bytes{};  // kept for reuse
    LatencySummary release_latency;

    static const std::array<std::uint64_t DisciplineStats::*, 13> sums;  // the fields that add up
};

inline constexpr std::array<std::uint64_t DisciplineStats::*, 13> DisciplineStats::sums{
    &DisciplineStats::collections,
    &DisciplineStats::collections_avoided,
    &DisciplineStats::pause_ns,
    &DisciplineStats::stalls,
    &DisciplineStats::stall_ns,
    &DisciplineStats::finalizers_registered,
    &DisciplineStats::freed_early,
    &DisciplineStats::escapes,
    &DisciplineStats::skipped_restores,
    &DisciplineStats::bumped_bytes,
    &DisciplineStats::slabs,
    &DisciplineStats::cache_hits,
    &DisciplineStats::cache_misses,
};

// The outcome of a manual free.
enum class ManualFree : std::uint8_t {
    disregarded,  // nothing happened: the mode has no manual free, or ignores it, or a second one is harmless
    done,
    kept,     // not freed now, but later: by the fallback discipline, or when the remaining handles are dropped
    twice,    // a defect: the block was freed before
    aliased,  // refused: other handles exist
};

class ThreadCache;

// Allocates memory for a new block.
[[nodiscard]] inline memory::Allocation ask(memory::MemoryResource& resource, std::uint64_t bytes,
                                            std::size_t alignment, bool zeroed) noexcept
{
    return zeroed ? resource.allocate_zeroed(bytes, alignment) : resource.allocate(bytes, alignment);
}

inline void give_memory(Block& block, const memory::Allocation& made, std::uint64_t bytes,
                        std::size_t alignment) noexcept
{
    block.data = made.ptr;
    block.bytes = bytes;
    block.alignment_log2 = static_cast<std::uint8_t>(std::countr_zero(alignment));
}

class Discipline {
  public:
    explicit Discipline(Reclaimer& reclaimer) noexcept : reclaimer_{reclaimer} {}
    Discipline(const Discipline&) = delete;
    Discipline& operator=(const Discipline&) = delete;
    virtual ~Discipline() = default;

    // Called before an allocation of this size. In this call, triggers ask for collections. The result is not `ok` if a
    // cap on memory refuses the allocation.
    [[nodiscard]] virtual memory::AllocStatus before_allocate(std::uint64_t /*bytes*/) noexcept
    {
        return memory::AllocStatus::ok;
    }

    // Returns an idle block with memory for this size; nullptr: there is none.
    [[nodiscard]] virtual Block* reuse(std::uint64_t /*bytes*/, std::size_t /*alignment*/, bool /*zeroed*/) noexcept
    {
        return nullptr;
    }

    // Returns the cache between handles and heap: handles return their blocks directly to this cache, and the heap
    // takes blocks from it. nullptr: there is none.
    [[nodiscard]] virtual ThreadCache* thread_cache() noexcept { return nullptr; }

    // Fills data, bytes and alignment of a new block.
    [[nodiscard]] virtual memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                                      bool zeroed) noexcept
    {
        const memory::Allocation made = ask(reclaimer_.resource(), bytes, alignment, zeroed);
        give_memory(block, made, bytes, alignment);
        return made.status;
    }

    // Called when an allocation has failed that before_allocate() had permitted.
    virtual void allocation_failed(std::uint64_t /*bytes*/) noexcept {}

    // Called when the last handle on this block has just been dropped, by the thread that dropped it.
    virtual void unreachable(Block& block) noexcept = 0;

    // Called when the program frees the block by hand. The block may still have handles.
    [[nodiscard]] virtual ManualFree free(Block& /*block*/) noexcept { return ManualFree::disregarded; }

    // Called when the program has freed memory that this discipline would have freed later.
    virtual void freed_early(std::uint64_t /*bytes*/) noexcept {}

    // leave_scope() frees the arena allocations that were made in the scope. If an exception ended the scope, the spec
    // may ask to keep these allocations.
    virtual void enter_scope() noexcept {}
    virtual void leave_scope(bool /*by_exception*/) noexcept {}

    // Whether the block's memory may still be used. If accesses are checked, called before each access.
    [[nodiscard]] virtual bool accessible(const Block& block) noexcept { return !is_gone(block); }

    // Collects: finds the unreachable blocks and frees them. With finalizers it only queues them.
    virtual void collect() noexcept {}

    // Waits until every block that collections found before the call has really been freed. Does not collect.
    virtual void drain() noexcept {}

    [[nodiscard]] virtual DisciplineStats stats() const noexcept { return {}; }

    // Restarts peaks from the present values, and the fields in DisciplineStats::sums from 0.
    virtual void reset_counts() noexcept {}

    void count_stray_release() noexcept { stray_releases_.fetch_add(1, relaxed); }
    [[nodiscard]] std::uint64_t stray_releases() const noexcept { return stray_releases_.load(relaxed); }

  protected:
    [[nodiscard]] Reclaimer& reclaimer() const noexcept { return reclaimer_; }

    // Frees a block that `floating` counts, and returns its bytes.
    std::uint64_t free_floating(Block& block, FloatingGauge& floating) const noexcept
    {
        const FloatingGauge::Leaving left = FloatingGauge::leaving(block);
        reclaimer_.free(block);
        floating.remove(left);
        return left.bytes;
    }

  private:
    Reclaimer& reclaimer_;
    std::atomic<std::uint64_t> stray_releases_{0};
};

// Keeps the processor busy for this time, as the pause of a collection or the work of a finalizer does.
inline void spin_for(std::uint64_t duration_ns) noexcept
{
    if (duration_ns != 0) {
        const std::int64_t end = steady_ns() + static_cast<std::int64_t>(duration_ns);
        while (steady_ns() < end) {
        }
    }
}

// Whether item `i` (from 0) of a sequence is chosen, if a `fraction` of all items is to be chosen. The chosen items are
// evenly spread and the same in every run: round(n * fraction) of the first n items.
[[nodiscard]] inline bool chosen(std::uint64_t i, double fraction) noexcept
{
    const auto upto = [fraction](std::uint64_t n) { return std::floor(static_cast<double>(n) * fraction + 0.5); };
    return upto(i + 1) > upto(i);
}

// Asks the leak checker, if one is linked in, not to report this memory: the leak is intended.
void disown(const void* memory) noexcept;

[[nodiscard]] std::unique_ptr<Discipline> make_discipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer);

}  // namespace memsweep::lifetime
