// The two bounds on the memory that a discipline holds: freed at once, and never freed.
#pragma once

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating.hpp"

namespace memsweep::lifetime {

// Freed at once, by the thread that drops the last handle: CPython, and NumSharp since its fix.
//
// Cost     the free itself, without a counter or a lock: nothing ever floats.
class RefcountDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override { reclaimer().free(block); }
};

// Never freed.
//
// Memory   what is dropped stays with the resource until the process ends, whatever is collected or drained.
class LeakDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override { floating_.reset(); }

  private:
    FloatingGauge floating_;
};

// Asks a leak checker, where one is linked in, not to report this memory: the leak is the measurement, not a mistake.
void disown(const void* memory) noexcept;

}  // namespace memsweep::lifetime
