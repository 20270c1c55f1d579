// Freed at once, by the thread that drops the last handle: CPython, and NumSharp since its fix.
//
// Cost     no counter and no lock beyond the free itself: nothing ever floats.
#pragma once

#include "core/lifetime/discipline.hpp"

namespace memsweep::lifetime {

class RefcountDiscipline final : public Discipline {
  public:
    using Discipline::Discipline;

    void unreachable(Block& block) noexcept override { reclaimer().free(block); }
};

}  // namespace memsweep::lifetime
