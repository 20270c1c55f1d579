// Disciplines that allocate by moving a pointer: arenas, whose scopes free everything at once, and a stack.
#include "core/lifetime/disciplines.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include "core/lifetime/floating.hpp"
#include "core/memory/alignment.hpp"

namespace memsweep::lifetime {
namespace {

constexpr std::size_t slab_alignment = 64;

constexpr std::size_t region_alignment = 64;

// Bump allocation from big slabs, which are freed together when the scope ends; a drop frees nothing.
//
// arena            slabs of one size. A request that does not fit a slab gets memory of its own. When a slab is full,
//                  the next one is acquired, and freed when the scope that needed it ends.
// arena_autoscale  one main buffer, and extra ones when it is full, each twice as big as the one before. At the end of
//                  the outermost scope the main buffer is made as big as the last scopes needed.
// arena_checked    as arena; accessible() takes a lock and says whether the block's scope still lives.
//
// Without a scope everything lives until the heap's end. A scope left by an exception keeps its memory until an outer
// scope ends, unless restore_on_throw is set: Bumper.jl's restore is not in a `finally`.
//
// Sources  Bumper.jl (SlabBuffer), AllocArrays.jl (AutoscalingAllocBuffer).
// Cost     an allocation: a lock and an addition. The end of a scope: one step per block made in it.
// Threads  any thread may allocate and drop; scopes belong to one thread.
class ArenaDiscipline final : public Discipline {
  public:
    ArenaDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
        : Discipline{reclaimer}, spec_{spec}, main_bytes_{spec.arena.initial_bytes}
    {
        slabs_.reserve(256);  // so that they do not grow among what is measured
        own_.reserve(256);
        checkpoints_.reserve(64);
        history_.reserve(std::size_t{spec.arena.history} + 1);
    }

    ~ArenaDiscipline() override
    {
        restore({});
        for (const Slab& slab : slabs_) {  // the main buffer, which outlives its scopes
            give_back(slab);
        }
    }

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override
    {
        const std::size_t bump_alignment = std::min<std::size_t>(alignment, std::bit_floor(spec_.arena.alignment));
        const std::lock_guard lock{mutex_};
        const memory::Allocation made = bump(bytes, bump_alignment);
        if (made.status != memory::AllocStatus::ok) {
            return made.status;
        }
        block.data = made.ptr;
        if (zeroed) {
            std::memset(block.data, 0, bytes);
        }
        block.bytes = bytes;
        block.alignment_log2 = static_cast<std::uint8_t>(std::countr_zero(bump_alignment));
        block.next = newest_;
        newest_ = &block;
        bumped_bytes_ += bytes;
        used_bytes_ += bytes;
        return memory::AllocStatus::ok;
    }

    void unreachable(Block& block) noexcept override
    {
        const std::lock_guard lock{mutex_};
        if (block.freed.load(relaxed)) {
            reclaimer().recycle(block);  // its scope ended before its last handle did
        } else {
            floating_.add(block);
        }
    }

    [[nodiscard]] bool accessible(const Block& block) noexcept override
    {
        const std::lock_guard lock{mutex_};
        return !block.freed.load(relaxed);
    }

    void enter_scope() noexcept override
    {
        const std::lock_guard lock{mutex_};
        checkpoints_.push_back({slabs_.size(), slabs_.empty() ? 0 : slabs_.back().used, own_.size(), newest_});
    }

    void leave_scope(bool by_exception) noexcept override
    {
        const std::lock_guard lock{mutex_};
        if (checkpoints_.empty()) {
            return;
        }
        const Checkpoint checkpoint = checkpoints_.back();
        checkpoints_.pop_back();
        if (by_exception && !spec_.arena.restore_on_throw) {
            ++skipped_restores_;
            return;
        }
        restore(checkpoint);
        if (checkpoints_.empty() && autoscales()) {
            rescale();
        }
    }

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        const std::lock_guard lock{mutex_};
        DisciplineStats stats;
        floating_.add_to(stats);
        stats.bumped_bytes = bumped_bytes_;
        stats.slabs = slabs_acquired_;
        stats.escapes = escapes_;
        stats.skipped_restores = skipped_restores_;
        return stats;
    }

    void reset_counts() noexcept override
    {
        const std::lock_guard lock{mutex_};
        floating_.reset();
        bumped_bytes_ = 0;
        slabs_acquired_ = 0;
        escapes_ = 0;
        skipped_restores_ = 0;
    }

  private:
    struct Slab {
        std::byte* data{};
        std::uint64_t bytes{};
        std::uint64_t used{};
    };
    struct Checkpoint {
        std::size_t slabs{};
        std::uint64_t used{};  // bytes of the last of them
        std::size_t own{};
        Block* newest{};
    };

    [[nodiscard]] bool autoscales() const noexcept { return spec_.mode == model::ReleaseMode::arena_autoscale; }
    [[nodiscard]] std::uint64_t next_slab_bytes(std::uint64_t needed) const noexcept
    {
        if (!autoscales()) {
            return spec_.arena.slab_bytes;
        }
        return std::max(slabs_.empty() ? main_bytes_ : slabs_.back().bytes * 2, needed);
    }

    [[nodiscard]] memory::Allocation bump(std::uint64_t bytes, std::size_t alignment) noexcept
    {
        if (!autoscales() && bytes >= spec_.arena.slab_bytes) {
            return acquire_own(bytes);
        }
        const auto fits = [&](const Slab& slab) {
            return memory::round_up(slab.used, alignment) + bytes <= slab.bytes;
        };
        if (slabs_.empty() || !fits(slabs_.back())) {
            if (const auto refused = add_slab(next_slab_bytes(bytes)); refused != memory::AllocStatus::ok) {
                return {nullptr, refused};
            }
        }
        Slab& slab = slabs_.back();
        const std::uint64_t at = memory::round_up(slab.used, alignment);
        slab.used = at + bytes;
        return {slab.data + at, memory::AllocStatus::ok};
    }

    [[nodiscard]] memory::AllocStatus add_slab(std::uint64_t bytes) noexcept
    {
        const memory::Allocation made = reclaimer().resource().allocate(bytes, slab_alignment);
        if (made.status == memory::AllocStatus::ok) {
            slabs_.push_back({static_cast<std::byte*>(made.ptr), bytes, 0});
            ++slabs_acquired_;
        }
        return made.status;
    }

    [[nodiscard]] memory::Allocation acquire_own(std::uint64_t bytes) noexcept
    {
        const memory::Allocation made = reclaimer().resource().allocate(bytes, slab_alignment);
        if (made.status == memory::AllocStatus::ok) {
            own_.push_back({static_cast<std::byte*>(made.ptr), bytes, bytes});
        }
        return made;
    }

    void restore(const Checkpoint& checkpoint) noexcept
    {
        end_blocks(checkpoint.newest);
        for (; own_.size() > checkpoint.own; own_.pop_back()) {
            give_back(own_.back());
        }
        // A main buffer outlives its scopes; slabs beyond the checkpoint do not.
        const bool main_stays = autoscales() && checkpoint.slabs == 0 && !slabs_.empty() && checkpoints_.empty();
        const std::size_t stay = checkpoint.slabs + (main_stays ? 1 : 0);
        for (; slabs_.size() > stay; slabs_.pop_back()) {
            give_back(slabs_.back());
        }
        if (!slabs_.empty()) {
            slabs_.back().used = checkpoint.used;
        }
    }

    void end_blocks(const Block* until) noexcept
    {
        while (newest_ != until) {
            Block& block = *newest_;
            newest_ = block.next;
            const FloatingGauge::Leaving left = FloatingGauge::leaving(block);
            block.freed.store(true, std::memory_order_release);
            if (block.handles() < 0) {
                reclaimer().recycle(block);
                floating_.remove(left);
            } else {
                ++escapes_;
            }
        }
    }

    // After AllocArrays.jl: as big as the most that the last few outermost scopes used, and some headroom.
    void rescale() noexcept
    {
        history_.push_back(used_bytes_);
        used_bytes_ = 0;
        if (history_.size() > std::max<std::size_t>(spec_.arena.history, 1)) {
            history_.erase(history_.begin());
        }
        const auto most = static_cast<double>(*std::max_element(history_.begin(), history_.end()));
        const auto wanted = static_cast<std::uint64_t>(most * spec_.arena.headroom);
        const bool outgrown = wanted > main_bytes_;
        const bool idle = history_.size() >= spec_.arena.history && wanted < main_bytes_ / 2;
        if (outgrown || idle) {
            main_bytes_ = std::max(wanted, spec_.arena.slab_bytes);
            for (; !slabs_.empty(); slabs_.pop_back()) {
                give_back(slabs_.back());
            }
        }
    }

    void give_back(const Slab& slab) noexcept
    {
        reclaimer().resource().deallocate(slab.data, slab.bytes, slab_alignment);
    }

    const model::ReleaseSpec spec_;
    mutable std::mutex mutex_;  // guards everything below
    std::vector<Slab> slabs_;
    std::vector<Slab> own_;  // one for each request as big as a slab, or bigger
    std::vector<Checkpoint> checkpoints_;
    Block* newest_{};             // made in any living scope, linked to the one made before
    std::uint64_t used_bytes_{};  // in this outermost scope
    std::uint64_t main_bytes_{};  // arena_autoscale: what the main buffer should hold
    std::vector<std::uint64_t> history_;
    FloatingGauge floating_;
    std::uint64_t bumped_bytes_{};
    std::uint64_t slabs_acquired_{};
    std::uint64_t escapes_{};
    std::uint64_t skipped_restores_{};
};

// Bump allocation from one region, popped at the drop, as alloca would do it: the cheapest discipline, with which all
// others are compared.
//
// A buffer dropped out of order is popped when all above it are gone. What does not fit the region comes from the
// resource.
//
// Cost     a lock and an addition.
// Memory   stack_bytes, acquired with the first buffer.
// Ownership  destruction gives the region back.
class StackDiscipline final : public Discipline {
  public:
    StackDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept
        : Discipline{reclaimer}, bytes_{spec.cache.stack_bytes}
    {
    }

    ~StackDiscipline() override
    {
        if (region_ != nullptr) {
            reclaimer().resource().deallocate(region_, bytes_, region_alignment);
        }
    }

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override
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
                block.freed.store(false, relaxed);  // still set from its former life: a drop meanwhile would pop it
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

    void unreachable(Block& block) noexcept override
    {
        {
            const std::lock_guard lock{mutex_};
            if (on_stack(block)) {
                block.freed.store(true, relaxed);
                while (top_ != nullptr && top_->freed.load(relaxed)) {
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

    [[nodiscard]] DisciplineStats stats() const noexcept override
    {
        const std::lock_guard lock{mutex_};
        DisciplineStats stats;
        stats.bumped_bytes = bumped_bytes_;
        return stats;
    }

    void reset_counts() noexcept override
    {
        const std::lock_guard lock{mutex_};
        bumped_bytes_ = 0;
    }

  private:
    [[nodiscard]] bool on_stack(const Block& block) const noexcept
    {
        const auto* const data = static_cast<const std::byte*>(block.data);
        return region_ != nullptr && data >= region_ && data < region_ + bytes_;
    }

    [[nodiscard]] std::byte* room_for(std::uint64_t bytes, std::size_t alignment) noexcept
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

    const std::uint64_t bytes_;
    mutable std::mutex mutex_;  // guards everything below
    std::byte* region_{};
    Block* top_{};  // linked to the one below
    std::uint64_t used_{};
    std::uint64_t bumped_bytes_{};
};

}  // namespace

std::unique_ptr<Discipline> make_arena(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    return std::make_unique<ArenaDiscipline>(spec, reclaimer);
}

std::unique_ptr<Discipline> make_stack(const model::ReleaseSpec& spec, Reclaimer& reclaimer)
{
    return std::make_unique<StackDiscipline>(spec, reclaimer);
}

}  // namespace memsweep::lifetime
