#include "core/lifetime/reserve_cap.hpp"

#include <chrono>
#include <thread>

#include "core/lifetime/clock.hpp"

namespace memsweep::lifetime {

bool ReserveCap::try_reserve(std::uint64_t bytes) noexcept
{
    if (spec_.bytes == 0) {
        return true;
    }
    std::uint64_t reserved = reserved_.load(std::memory_order_relaxed);
    do {
        if (bytes > spec_.bytes - reserved) {
            return false;
        }
    } while (!reserved_.compare_exchange_weak(reserved, reserved + bytes, std::memory_order_relaxed));
    return true;
}

void ReserveCap::sleep(std::uint32_t number) noexcept
{
    const std::int64_t before = steady_ns();
    std::this_thread::sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(spec_.first_sleep_ns << number)});
    sleeps_.fetch_add(1, std::memory_order_relaxed);
    slept_ns_.fetch_add(static_cast<std::uint64_t>(steady_ns() - before), std::memory_order_relaxed);
}

void ReserveCap::reset_counts() noexcept
{
    sleeps_.store(0, std::memory_order_relaxed);
    slept_ns_.store(0, std::memory_order_relaxed);
}

}  // namespace memsweep::lifetime
