// On which processors this process may run, and on which the calling thread runs for a while.
//
// Sources  sched_getaffinity and sched_setaffinity of the calling thread; what it was before is put back by the
//          destructor. hwloc binds threads by the same calls, but needs its topology for it, which a worker must not
//          load.
// Cost     a system call where the processors change, and a migration where the thread is on none of them.
// Errors   os: the kernel refused, as for processors that a cpuset keeps from this process.
// Threads  an Affinity belongs to the thread that made it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// Of the calling thread; a cpuset of its control group counts.
[[nodiscard]] std::vector<std::uint32_t> allowed_cpus();

class Affinity {
  public:
    Affinity() = default;
    Affinity(const Affinity&) = delete;
    Affinity& operator=(const Affinity&) = delete;
    ~Affinity();

    // From now on on these alone; none: wherever it ran before the first call.
    [[nodiscard]] base::Expected<void> limit_to(const std::vector<std::uint32_t>& cpus);

  private:
    std::vector<std::uint32_t> before_;
    std::vector<std::uint32_t> now_;  // empty: as before
};

}  // namespace memsweep::sys
