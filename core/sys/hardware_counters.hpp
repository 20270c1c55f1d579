// Counts the instructions and cycles that a program and its descendants execute in user space.
//
// Sources  perf_event_open(2): inherit, enable_on_exec. Every user may count instructions and cycles if
//          kernel.perf_event_paranoid is at most 2.
// Cost     some microseconds at the start and at the end; nothing in between.
// Errors   none: if the processor, the hypervisor, the kernel or a sandbox refuses, the counts are absent.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

struct HardwareCounts {
    std::optional<std::uint64_t> instructions;  // absent: not counted, or counted only part of the time
    std::optional<std::uint64_t> cycles;        // absent: as for instructions
};

// Whether this process may use these counters. The first call tries one; later calls return the same answer.
[[nodiscard]] bool has_hardware_counters() noexcept;

class HardwareCounters {
  public:
    // Counts what `process` and its descendants execute from its next execve on. Construct it before `process` starts
    // the program.
    explicit HardwareCounters(pid_t process) noexcept;

    // Returns the counts. Call read() after the program and its descendants have ended.
    [[nodiscard]] HardwareCounts read() const noexcept;

  private:
    UniqueFd instructions_;
    UniqueFd cycles_;
};

}  // namespace memsweep::sys
