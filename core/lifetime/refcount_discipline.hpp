// Freed at once, by the thread that drops the last handle: CPython, and NumSharp since its fix.
//
// Cost     no counter and no lock beyond the free itself: nothing ever floats.
#pragma once

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

class RefcountDiscipline final : public Discipline {
  public:
    explicit RefcountDiscipline(Reclaimer& reclaimer) noexcept : reclaimer_{reclaimer} {}

    void before_allocate(std::uint64_t /*bytes*/) noexcept override {}
    void unreachable(Block& block) noexcept override { reclaimer_.free(block); }
    void collect() noexcept override {}
    void drain() noexcept override {}
    [[nodiscard]] DisciplineStats stats() const noexcept override { return {}; }
    void reset_peaks() noexcept override {}

  private:
    Reclaimer& reclaimer_;
};

}  // namespace memsweep::lifetime
