// Bump allocation from one region, popped at the drop, as alloca would do it: the cheapest discipline, with which all
// others are compared.
//
// A buffer dropped out of order is popped when all above it are gone. What does not fit the region comes from the
// resource.
//
// Cost     a lock and an addition.
// Memory   stack_bytes, acquired with the first buffer.
// Ownership  destruction gives the region back.
#pragma once

#include <mutex>

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

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
