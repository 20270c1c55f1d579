// Instructions and cycles that a program and everything it starts have spent in user space.
//
// Sources  perf_event_open(2): inherit, enable_on_exec; kernel.perf_event_paranoid up to 2 lets everybody count this.
// Cost     some microseconds at the start and the end; nothing in between.
// Errors   none: if the processor, the hypervisor, the kernel or a sandbox refuses, there are no counts.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

struct HardwareCounts {
    std::optional<std::uint64_t> instructions;  // empty: not counted, or counted for a part of the time only
    std::optional<std::uint64_t> cycles;
};

// Whether this process may count at all; asked of the kernel once.
[[nodiscard]] bool has_hardware_counters() noexcept;

class HardwareCounters {
  public:
    // Counts the work of this process's descendants from their exec on.
    explicit HardwareCounters(pid_t process) noexcept;

    // Call after these descendants have ended.
    [[nodiscard]] HardwareCounts read() const noexcept;

  private:
    UniqueFd instructions_;
    UniqueFd cycles_;
};

}  // namespace memsweep::sys
