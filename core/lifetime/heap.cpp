#include "core/lifetime/heap.hpp"

#include <algorithm>

#include "core/base/assert.hpp"
#include "core/memory/clock.hpp"

namespace memsweep::lifetime {
namespace {

using model::ReleaseMode;

bool frees_at_once(const model::ReleaseSpec& release)
{
    return !model::frees_manually(release) &&
           (release.mode == ReleaseMode::refcount || release.mode == ReleaseMode::immediate);
}

bool keeps_for_reuse(ReleaseMode mode)
{
    return mode == ReleaseMode::pool || mode == ReleaseMode::preallocated || mode == ReleaseMode::forward;
}

}  // namespace

Heap::Heap(memory::MemoryResource& resource, const model::ReleaseSpec& release, const memory::CallTimes* times)
    : release_{release}, reclaimer_{resource, slab_}, discipline_{make_discipline(release, reclaimer_)},
      cache_{discipline_->thread_cache()}, cache_number_{cache_ == nullptr ? 0 : cache_->number()},
      is_prompt_{frees_at_once(release)}, reuses_{keeps_for_reuse(release.mode)},
      is_local_{!release.atomic || release.mode == ReleaseMode::immediate}, may_wait_{model::is_collected(release)},
      times_{times}
{
}

Heap::~Heap()
{
    discipline_.reset();  // stops the finalizer threads and frees what they had left, before the slab is looked at
    bool held = false;
    slab_.each([&held](const Block& block) { held = held || block.handles(relaxed) > 0; });
    MEMSWEEP_ASSERT(!held, "a buffer outlives its heap");
}

template <typename Action>
void Heap::wait_for(const Action& action) noexcept
{
    const std::uint64_t calls_before = times_ == nullptr ? 0 : times_->program_ns();
    const std::int64_t began = steady_ns();
    action();
    const auto took = static_cast<std::uint64_t>(steady_ns() - began);
    const std::uint64_t calls = times_ == nullptr ? 0 : times_->program_ns() - calls_before;
    wait_ns_.fetch_add(took - std::min(took, calls), relaxed);
}

memory::AllocStatus Heap::before_allocate(std::uint64_t bytes) noexcept
{
    if (!may_wait_) {
        return discipline_->before_allocate(bytes);
    }
    memory::AllocStatus status{};
    wait_for([&] { status = discipline_->before_allocate(bytes); });
    return status;
}

void Heap::collect() noexcept
{
    wait_for([this] { discipline_->collect(); });
}

void Heap::drain() noexcept
{
    wait_for([this] { discipline_->drain(); });
}

Heap::Result Heap::allocate_new(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    if (Block* const idle = take_idle(bytes, alignment); idle != nullptr) {
        return {hand_out(*idle, bytes, zeroed), memory::AllocStatus::ok};
    }
    if (is_prompt_) {
        Buffer made;
        const auto status = allocate_promptly(made, bytes, alignment, zeroed);
        return {std::move(made), status};
    }
    return acquire(bytes, alignment, zeroed);
}

// By all that a discipline may have to say, and with the control block first.
Heap::Result Heap::acquire(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
{
    if (reuses_) {
        if (Block* const idle = discipline_->reuse(bytes, alignment, zeroed); idle != nullptr) {
            idle->tag = tag_;
            return {Buffer::begin(*idle, bytes), memory::AllocStatus::ok};
        }
    } else if (const auto refused = before_allocate(bytes); refused != memory::AllocStatus::ok) {
        return {{}, refused};
    }
    Block* const block = slab_.acquire();
    const auto status =
        block == nullptr ? memory::AllocStatus::out_of_memory : discipline_->acquire(*block, bytes, alignment, zeroed);
    if (status != memory::AllocStatus::ok) {
        if (block != nullptr) {
            slab_.recycle(*block);
        }
        discipline_->allocation_failed(bytes);
        return {{}, status};
    }
    return {first_handle(*block, bytes), memory::AllocStatus::ok};
}

memory::AllocStatus Heap::allocate_by_discipline(Buffer& empty, std::uint64_t bytes, std::size_t alignment,
                                                 bool zeroed) noexcept
{
    if (Block* const idle = take_idle(bytes, alignment); idle != nullptr) {
        empty.become(hand_out(*idle, bytes, zeroed));
        return memory::AllocStatus::ok;
    }
    Result made = acquire(bytes, alignment, zeroed);
    empty = std::move(made.buffer);
    return made.status;
}

void Heap::reserve(std::size_t blocks) noexcept
{
    // Refused, it is tried again by the allocation that needs it, which can say so.
    static_cast<void>(slab_.reserve(blocks));
}

ManualFree Heap::free(Buffer& buffer) noexcept
{
    if (buffer.block_ == nullptr) {
        return ManualFree::disregarded;
    }
    const ManualFree outcome = discipline_->free(*buffer.block_);
    if (outcome == ManualFree::done && release_.safety.detect == model::Detection::null) {
        buffer.clear_pointer();
    }
    return outcome;
}

void Heap::release_stray(const Buffer& buffer) noexcept
{
    if (Block* const block = buffer.block(); block != nullptr) {
        release_handle(*block);
    }
}

bool Heap::accessible(const Buffer& buffer) noexcept
{
    return buffer.data_ != nullptr && (buffer.block_ == nullptr || discipline_->accessible(*buffer.block_));
}

}  // namespace memsweep::lifetime
