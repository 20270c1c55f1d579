// A counter of ticks in shared memory, which memsweep advances while it records (recording_layout.hpp).
//
// Reading the time takes longer than recording an event. So a thread reads the time only at the first of up to 64
// events. If this counter advances during these events, the thread reads the time again. The check costs one comparison
// an event.
//
// Memory   a page of the clock's file.
// Threads  any, after follow_clock() has returned.
#pragma once

#include <atomic>
#include <cstdint>

namespace memsweep::trace::recorder {

// Never null. NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables,bugprone-dynamic-static-initializers)
extern constinit std::uint32_t* shared_clock;

// Returns the present value of the counter. The value never changes if there is no clock.
[[nodiscard]] inline std::uint32_t last_tick() noexcept
{
    return std::atomic_ref{*shared_clock}.load(std::memory_order_relaxed);
}

// Maps the counter's file in the folder of the recording, if there is one. Call before the program has threads.
void follow_clock(const char* folder) noexcept;
// Whether the counter is mapped.
[[nodiscard]] bool follows_clock() noexcept;

}  // namespace memsweep::trace::recorder
