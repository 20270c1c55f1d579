#include "core/memory/depot.hpp"

#include <algorithm>

namespace memsweep::memory {

std::uint32_t Depot::take(std::uint32_t index, std::span<void*> into) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), shelf.count));
    shelf.count -= taken;
    shelf.least = std::min(shelf.least, shelf.count);
    void** const first = &blocks_[std::size_t{index} * stride_];
    std::copy_n(first + shelf.count, taken, into.begin());
    return taken;
}

std::uint32_t Depot::put(std::uint32_t index, std::span<void* const> blocks, std::uint32_t capacity) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const std::uint32_t room = std::min(capacity, stride_) - shelf.count;
    const auto kept = static_cast<std::uint32_t>(std::min<std::size_t>(blocks.size(), room));
    void** const first = &blocks_[std::size_t{index} * stride_];
    std::copy_n(blocks.begin(), kept, first + shelf.count);
    shelf.count += kept;
    return kept;
}

std::uint32_t Depot::take_unused(std::uint32_t index, std::span<void*> into) noexcept
{
    Shelf& shelf = shelves_[index];
    const std::lock_guard lock{shelf.mutex};
    const auto taken = static_cast<std::uint32_t>(std::min<std::size_t>(into.size(), shelf.least));
    if (taken != 0) {
        void** const first = &blocks_[std::size_t{index} * stride_];
        std::copy_n(first, taken, into.begin());
        std::move(first + taken, first + shelf.count, first);
        shelf.count -= taken;
    }
    shelf.least = taken == into.size() ? shelf.least - taken : shelf.count;
    return taken;
}

std::uint32_t Depot::count(std::uint32_t index) const noexcept
{
    const std::lock_guard lock{shelves_[index].mutex};
    return shelves_[index].count;
}

}  // namespace memsweep::memory
