#include "core/sys/clock.hpp"

#include <cerrno>

#include <fmt/format.h>

namespace memsweep::sys {
namespace {

using std::chrono::nanoseconds;

nanoseconds read_clock(clockid_t id)
{
    timespec time{};
    ::clock_gettime(id, &time);
    return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

}  // namespace

nanoseconds SystemClock::now() const noexcept
{
    return read_clock(CLOCK_MONOTONIC);
}

nanoseconds SystemClock::process_cpu() const noexcept
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void SystemClock::sleep_for(nanoseconds duration) const noexcept
{
    if (duration <= nanoseconds{0}) {
        return;
    }
    // To an absolute time: restarting after a signal then adds nothing to the sleep.
    const nanoseconds end = now() + duration;
    const timespec until = to_timespec(end);
    while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
    }
}

timespec to_timespec(nanoseconds time) noexcept
{
    constexpr long nanoseconds_per_second = 1'000'000'000;
    return {.tv_sec = static_cast<time_t>(time.count() / nanoseconds_per_second),
            .tv_nsec = static_cast<long>(time.count() % nanoseconds_per_second)};
}

std::string format_utc(std::chrono::system_clock::time_point time)
{
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock{floor<milliseconds>(time - day)};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string utc_now()
{
    return format_utc(std::chrono::system_clock::now());
}

}  // namespace memsweep::sys
