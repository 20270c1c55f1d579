#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

static_assert(sizeof(Block) == 64);
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

bool try_add_handle(Block& block) noexcept
{
    std::int64_t count = block.count.load(relaxed);
    if (block.local) {
        const bool gone = handles_in(count) < 0;
        block.count.store(gone ? count : count + 1, relaxed);
        return !gone;
    }
    do {
        if (handles_in(count) < 0) {
            return false;
        }
    } while (!block.count.compare_exchange_weak(count, count + 1, std::memory_order_acquire, relaxed));
    return true;
}

Drop drop_local_handle(Block& block) noexcept
{
    const std::int64_t count = block.count.load(relaxed);
    const std::int64_t handles = handles_in(count);
    if (handles > 0) {
        block.count.store(handles == 1 ? released : count - 1, relaxed);
    }
    return {handles == 1, handles <= 0};
}

Drop finish_drop(Block& block, std::int64_t count) noexcept
{
    const bool stray = handles_in(count) < 0;
    if (stray) {
        count = block.count.fetch_add(1, std::memory_order_acq_rel) + 1;
    }
    // A stray release may fall between a last release's decrement and its swap, which then fails; the count is back at
    // 0 once it is undone, and whoever put it there swaps.
    const bool last = handles_in(count) == 0 &&
                      block.count.compare_exchange_strong(count, released, std::memory_order_acq_rel, relaxed);
    return {last, stray};
}

}  // namespace memsweep::lifetime
