#include "core/lifetime/block.hpp"

namespace memsweep::lifetime {

static_assert(sizeof(Block) == 64);
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

bool try_add_handle(Block& block) noexcept
{
    std::int64_t handles = block.handles.load(relaxed);
    if (block.local) {
        block.handles.store(handles < 0 ? handles : handles + 1, relaxed);
        return handles >= 0;
    }
    do {
        if (handles < 0) {
            return false;
        }
    } while (!block.handles.compare_exchange_weak(handles, handles + 1, std::memory_order_acquire, relaxed));
    return true;
}

Drop drop_local_handle(Block& block) noexcept
{
    const std::int64_t handles = block.handles.load(relaxed);
    if (handles > 0) {
        block.handles.store(handles == 1 ? released : handles - 1, relaxed);
    }
    return {handles == 1, handles <= 0};
}

Drop finish_drop(Block& block, std::int64_t left) noexcept
{
    const bool stray = left < 0;
    if (stray) {
        left = block.handles.fetch_add(1, std::memory_order_acq_rel) + 1;
    }
    // A stray release may fall between a last release's decrement and its swap, which then fails; the count is back at
    // 0 once it is undone, and whoever put it there swaps.
    std::int64_t none = 0;
    const bool last =
        left == 0 && block.handles.compare_exchange_strong(none, released, std::memory_order_acq_rel, relaxed);
    return {last, stray};
}

}  // namespace memsweep::lifetime
