// The control block of one reference-counted buffer, and the rules by which its handles are counted.
//
// Sources  the rules of NumSharp's fix (commit da8d005e). Every handle counts one, and -1 means released. The drop of
//          the last handle replaces 0 by -1 with a compare-and-swap. Only the thread whose swap succeeds goes on to
//          free.
// Units    bytes.
// Cost     one locked instruction to add a handle, one to drop a handle, two to drop the last one. No locked
//          instruction to drop the only handle on a block that is not watched (see `watched`), and none at all if only
//          one thread counts the handles. The `watched` mark is part of the count, so one comparison finds the only
//          handle on an unwatched block.
// Memory   64 bytes, so that two blocks never share a cache line.
// Threads  any thread may use `count` and `freed` at any time while the block's memory exists. The other fields belong
//          to the thread that created the block, then to the thread that released it.
// Ownership  a block of a heap lies in that heap's slab. Its memory stays readable as long as the heap lives, so that
//          an attempt to revive a released block fails instead of reading freed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace memsweep::lifetime {

class Discipline;

inline constexpr std::int64_t released = -1;
inline constexpr auto relaxed = std::memory_order_relaxed;  // for counters: they order no other memory accesses

// Added to the count while somebody keeps a pointer to the block without holding a handle.
inline constexpr std::int64_t watched = std::int64_t{1} << 62U;
// The number of handles that a count stands for. A stray release (a drop without a handle) takes this number below 0
// for a moment, whether or not the block is watched.
[[nodiscard]] constexpr std::int64_t handles_in(std::int64_t count) noexcept
{
    return count < watched / 2 ? count : count - watched;
}

struct alignas(64) Block {
    std::atomic<std::int64_t> count{released};  // handles; see watched
    void* data{};
    std::uint64_t bytes{};  // the size that the resource granted; a pool's size class may exceed the request
    Discipline*
        discipline{};  // notified when the last handle is dropped; nullptr: never used, or the buffer has another owner
    Block* next{};     // the next block in the list that this block is in
    // The time, by the steady clock, at which the block was dropped. Before the drop, the time at which it was made, if
    // the discipline records ages. A block of a heap with a thread cache (`cached`) has no time: its field holds the
    // place().
    std::int64_t since_ns{};
    std::uint32_t index{};                   // its index in the slab
    std::atomic<std::uint32_t> next_free{};  // in the slab's free list
    std::uint16_t tag{};                     // identifies the owner in reports
    std::uint8_t alignment_log2{};
    bool local{};                   // one thread counts its handles, without locked instructions
    std::atomic<bool> freed{true};  // see claim_free()
    bool resurrected{};             // a finalizer has already kept it alive, which happens at most one time
    bool cached{};

    [[nodiscard]] std::size_t alignment() const noexcept { return std::size_t{1} << alignment_log2; }
    // A number below 0 identifies the entry of a thread cache that last kept the block (thread_cache.hpp). 0 or above:
    // no cache has kept the block.
    [[nodiscard]] std::int64_t place() const noexcept { return since_ns; }
    void set_place(std::int64_t number) noexcept { since_ns = number; }
    [[nodiscard]] std::int64_t handles(std::memory_order order = std::memory_order_acquire) const noexcept
    {
        return handles_in(count.load(order));
    }
};

// Begins a new life of a block that a thread's cache had kept. Afterwards the block has one handle. The count must not
// pass through 0. Otherwise a thread that dropped a handle in the block's former life, but has not done its swap yet,
// would release the block.
inline void begin_kept(Block& block) noexcept
{
    block.count.store(1, std::memory_order_release);
}

// Begins a new life of any block. Afterwards the block has one handle.
inline void begin(Block& block) noexcept
{
    block.freed.store(false, relaxed);
    block.resurrected = false;
    begin_kept(block);
}

// Call while holding a handle. After the call, until the block is released, other threads may add handles without
// holding one.
inline void watch(Block& block) noexcept
{
    std::int64_t count = block.count.load(relaxed);
    while (count >= 0 && count < watched / 2 && !block.count.compare_exchange_weak(count, count + watched, relaxed)) {
    }
}

// True when nobody owns the memory: it is freed, or idle in a thread's cache. A block in a cache is not marked as
// freed, which saves two stores per life.
[[nodiscard]] inline bool is_gone(const Block& block) noexcept
{
    return block.freed.load(std::memory_order_acquire) ||
           (block.cached && block.count.load(std::memory_order_acquire) < 0);
}

// Adds a handle. False if the block is released: a released block cannot be revived.
[[nodiscard]] bool try_add_handle(Block& block) noexcept;

// Adds a handle for a caller that already holds one. False: a stray release has dropped the caller's handle, and so
// released the block.
[[nodiscard]] inline bool add_handle(Block& block) noexcept
{
    if (block.local) {
        return try_add_handle(block);
    }
    return handles_in(block.count.fetch_add(1, relaxed)) > 0;
}

struct Drop {
    bool last{};   // the caller released the block and must pass it on to be freed
    bool stray{};  // there was no handle to drop; the count is as before
};
// The rare cases of drop_handle(). drop_local_handle() is for a block whose handles only one thread counts.
// finish_drop() is for a drop after which the count (`count`) stands for zero handles or fewer. Other threads may see
// this count until finish_drop() corrects it.
[[nodiscard]] Drop drop_local_handle(Block& block) noexcept;
[[nodiscard]] Drop finish_drop(Block& block, std::int64_t count) noexcept;

// Drops the only handle on a block that is not watched. No other thread can add a handle to such a block. False:
// nothing was dropped, because there may be other handles or the block is watched.
[[nodiscard]] inline bool drop_sole_handle(Block& block) noexcept
{
    if (block.count.load(std::memory_order_acquire) != 1) {
        return false;
    }
    block.count.store(released, relaxed);
    return true;
}

[[nodiscard]] inline Drop drop_one_of_several(Block& block) noexcept
{
    if (block.local) {
        return drop_local_handle(block);
    }
    // acq_rel: everything that every holder did to the buffer happens before the buffer is freed.
    const std::int64_t count = block.count.fetch_sub(1, std::memory_order_acq_rel) - 1;
    return handles_in(count) > 0 ? Drop{} : finish_drop(block, count);
}

[[nodiscard]] inline Drop drop_handle(Block& block) noexcept
{
    return drop_sole_handle(block) ? Drop{true, false} : drop_one_of_several(block);
}

// Claims the right to free the block's memory. True for exactly one caller in each life of the block, however many
// threads try.
[[nodiscard]] inline bool claim_free(Block& block) noexcept
{
    return !block.freed.exchange(true, std::memory_order_acq_rel);
}

// claim_free() without a locked instruction, for a block that no other thread can try to free.
[[nodiscard]] inline bool claim_free_alone(Block& block) noexcept
{
    if (block.freed.load(relaxed)) {
        return false;
    }
    block.freed.store(true, std::memory_order_release);
    return true;
}

}  // namespace memsweep::lifetime
