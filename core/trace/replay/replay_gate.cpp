#include "core/trace/replay/replay_gate.hpp"

#include <climits>
#include <ctime>

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/trace/replay/replay_places.hpp"

namespace memsweep::trace {
namespace {

constexpr int looks = 100;
constexpr int gate_yields = 20;
constexpr long gate_sleep_ns = 20'000'000;  // for a stop, which wakes nobody

}  // namespace

bool ReplayGate::wait(std::uint64_t step) noexcept
{
    for (int i = 0; i < looks; ++i) {
        if (is_open(step)) {
            return true;
        }
        pause_briefly();
    }
    for (int i = 0; i < gate_yields; ++i) {
        if (is_open(step)) {
            return true;
        }
        ::sched_yield();
    }
    Bed& bed = beds_[step % beds_.size()];
    while (!stopped_.load(std::memory_order_relaxed)) {
        bed.sleepers.fetch_add(1);
        const std::uint32_t turn = bed.turn.load();
        if (open_.load() < step) {
            const std::timespec timeout{0, gate_sleep_ns};
            ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&bed.turn), FUTEX_WAIT_PRIVATE, turn, &timeout,
                      nullptr, 0);
        }
        bed.sleepers.fetch_sub(1);
        if (is_open(step)) {
            return true;
        }
    }
    return false;
}

void ReplayGate::open_next() noexcept
{
    const std::uint64_t next = open_.load(std::memory_order_relaxed) + 1;
    if (next < members_.size()) {
        left_.store(members_[next], std::memory_order_relaxed);
    }
    open_.store(next);
    Bed& bed = beds_[next % beds_.size()];
    if (bed.sleepers.load() != 0) {
        bed.turn.fetch_add(1);
        ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&bed.turn), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr,
                  0);
    }
}

void ReplayGate::stop() noexcept
{
    stopped_.store(true, std::memory_order_relaxed);
}

}  // namespace memsweep::trace
