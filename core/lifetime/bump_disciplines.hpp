// Disciplines that allocate by moving a pointer: arenas, whose scopes free everything at once, and a stack.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <vector>

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating.hpp"

namespace memsweep::lifetime {

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
    ArenaDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer);
    ~ArenaDiscipline() override;

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override;
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] bool accessible(const Block& block) noexcept override;
    void enter_scope() noexcept override;
    void leave_scope(bool by_exception) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    struct Slab {
        std::byte* data{};
        std::uint64_t bytes{};
        std::uint64_t used{};
    };
    struct Checkpoint {
        std::size_t slabs{};
        std::uint64_t used{};  // of the last of them
        std::size_t own{};
        Block* newest{};
    };

    [[nodiscard]] bool autoscales() const noexcept { return spec_.mode == model::ReleaseMode::arena_autoscale; }
    [[nodiscard]] std::uint64_t next_slab_bytes(std::uint64_t needed) const noexcept;
    [[nodiscard]] memory::Allocation bump(std::uint64_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] memory::AllocStatus add_slab(std::uint64_t bytes) noexcept;
    [[nodiscard]] memory::Allocation acquire_own(std::uint64_t bytes) noexcept;
    void restore(const Checkpoint& checkpoint) noexcept;
    void end_blocks(const Block* until) noexcept;
    void rescale() noexcept;
    void give_back(const Slab& slab) noexcept;

    const model::ReleaseSpec spec_;
    mutable std::mutex mutex_;  // guards everything below
    std::vector<Slab> slabs_;
    std::vector<Slab> own_;  // one for each request as big as a slab, or bigger
    std::vector<Checkpoint> checkpoints_;
    Block* newest_{};             // made in any living scope, linked to the one made before
    std::uint64_t used_bytes_{};  // of this outermost scope
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
    StackDiscipline(const model::ReleaseSpec& spec, Reclaimer& reclaimer) noexcept;
    ~StackDiscipline() override;

    [[nodiscard]] memory::AllocStatus acquire(Block& block, std::uint64_t bytes, std::size_t alignment,
                                              bool zeroed) noexcept override;
    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override;

  private:
    [[nodiscard]] bool on_stack(const Block& block) const noexcept;
    [[nodiscard]] std::byte* room_for(std::uint64_t bytes, std::size_t alignment) noexcept;

    const std::uint64_t bytes_;
    mutable std::mutex mutex_;  // guards everything below
    std::byte* region_{};
    Block* top_{};  // linked to the one below
    std::uint64_t used_{};
    std::uint64_t bumped_bytes_{};
};

}  // namespace memsweep::lifetime
