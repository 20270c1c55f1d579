#include "core/lifetime/stack_discipline.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/memory/alignment.hpp"

namespace memsweep::lifetime {
namespace {

constexpr std::size_t region_alignment = 64;

}  // namespace

StackDiscipline::StackDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept
    : Discipline{reclaimer}, bytes_{spec.cache.stack_bytes}
{
}

StackDiscipline::~StackDiscipline()
{
    if (region_ != nullptr) {
        reclaimer().resource().deallocate(region_, bytes_, region_alignment);
    }
}

std::byte* StackDiscipline::room_for(std::uint64_t bytes, std::size_t alignment) noexcept
{
    const std::uint64_t room = std::max<std::uint64_t>(bytes, 1);  // so that every block has a place of its own
    const std::uint64_t at = memory::round_up(used_, alignment);
    if (alignment > region_alignment || room > bytes_ || at > bytes_ - room) {
        return nullptr;
    }
    if (region_ == nullptr) {
        region_ = static_cast<std::byte*>(reclaimer().resource().allocate(bytes_, region_alignment).ptr);
    }
    return region_ == nullptr ? nullptr : region_ + at;
}

memory::AllocStatus StackDiscipline::acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                             bool zeroed) noexcept
{
    std::byte* place = nullptr;
    {
        const std::lock_guard lock{mutex_};
        place = room_for(bytes, alignment);
        if (place != nullptr) {
            used_ = static_cast<std::uint64_t>(place - region_) + std::max<std::uint64_t>(bytes, 1);
            bumped_bytes_ += bytes;
            block.data = place;
            block.bytes = bytes;
            block.alignment_log2 = static_cast<std::uint8_t>(std::countr_zero(alignment));
            block.next = top_;
            block.freed.store(false, std::memory_order_relaxed);  // of its former life: a drop meanwhile would pop it
            top_ = &block;
        }
    }
    if (place == nullptr) {
        return Discipline::acquire(block, bytes, alignment, zeroed);
    }
    if (zeroed) {
        std::memset(place, 0, bytes);
    }
    return memory::AllocStatus::ok;
}

bool StackDiscipline::on_stack(const Block& block) const noexcept
{
    const auto* const data = static_cast<const std::byte*>(block.data);
    return region_ != nullptr && data >= region_ && data < region_ + bytes_;
}

void StackDiscipline::unreachable(Block& block) noexcept
{
    {
        const std::lock_guard lock{mutex_};
        if (on_stack(block)) {
            block.freed.store(true, std::memory_order_relaxed);
            while (top_ != nullptr && top_->freed.load(std::memory_order_relaxed)) {
                Block& popped = *top_;
                top_ = popped.next;
                used_ = static_cast<std::uint64_t>(static_cast<std::byte*>(popped.data) - region_);
                reclaimer().recycle(popped);
            }
            return;
        }
    }
    reclaimer().free(block);
}

DisciplineStats StackDiscipline::stats() const noexcept
{
    const std::lock_guard lock{mutex_};
    DisciplineStats stats;
    stats.bumped_bytes = bumped_bytes_;
    return stats;
}

void StackDiscipline::reset_counts() noexcept
{
    const std::lock_guard lock{mutex_};
    bumped_bytes_ = 0;
}

}  // namespace memsweep::lifetime
