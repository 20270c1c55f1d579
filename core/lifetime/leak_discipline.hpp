// Never freed: the upper bound that every other discipline is compared with.
//
// Memory   what is dropped stays with the resource until the process ends, whatever is collected or drained.
#pragma once

#include "core/lifetime/discipline.hpp"
#include "core/lifetime/floating_gauge.hpp"

namespace memsweep::lifetime {

class LeakDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override;
    [[nodiscard]] DisciplineStats stats() const noexcept override;
    void reset_counts() noexcept override { floating_.reset(); }

  private:
    FloatingGauge floating_;
};

}  // namespace memsweep::lifetime
