#include "core/trace/replay/replay_places.hpp"

#include <bit>
#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace memsweep::trace {
namespace {

constexpr int spins = 100;             // some two microseconds of pauses
constexpr int yields = 100;            // another some thirty: a processor that goes to sleep takes longer to come back
constexpr long max_sleep_ns = 50'000;  // a wake that was missed costs no more

// The half of the cell that a futex can compare. Full or empty shows in it but for addresses that end in 32 zero bits,
// which the end of the sleep takes care of.
std::uint32_t* futex_word(const std::atomic<void*>& cell) noexcept
{
    auto* halves = reinterpret_cast<std::uint32_t*>(const_cast<std::atomic<void*>*>(&cell));
    return std::endian::native == std::endian::little ? halves : halves + 1;
}

}  // namespace

bool ReplayWaits::wait(const std::atomic<void*>& cell, bool full) noexcept
{
    while (!stopped()) {
        for (int i = 0; i < spins; ++i) {
            if ((cell.load(std::memory_order_acquire) != nullptr) == full) {
                return true;
            }
            pause_briefly();
        }
        for (int i = 0; i < yields; ++i) {
            if ((cell.load(std::memory_order_acquire) != nullptr) == full) {
                return true;
            }
            ::sched_yield();
        }
        sleepers_at(cell).fetch_add(1, std::memory_order_relaxed);
        const auto seen = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(cell.load()));
        const std::timespec timeout{0, max_sleep_ns};
        if ((cell.load(std::memory_order_acquire) != nullptr) != full) {
            ::syscall(SYS_futex, futex_word(cell), FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
        }
        sleepers_at(cell).fetch_sub(1, std::memory_order_relaxed);
    }
    return false;
}

void ReplayWaits::wake(std::atomic<void*>& cell) noexcept
{
    ::syscall(SYS_futex, futex_word(cell), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace memsweep::trace
