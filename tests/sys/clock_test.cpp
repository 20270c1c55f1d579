#include "core/sys/clock.hpp"

#include <csignal>
#include <thread>

#include <pthread.h>

#include "tests/support/catch.hpp"
#include "tests/sys/disposition.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

TEST_CASE("UTC is written with milliseconds, cut off", "[unit]")
{
    using std::chrono::system_clock;
    CHECK(sys::format_utc(system_clock::time_point{}) == "1970-01-01T00:00:00.000Z");
    CHECK(sys::format_utc(system_clock::time_point{1769860800s + 123'999us}) == "2026-01-31T12:00:00.123Z");
    CHECK(sys::format_utc(system_clock::time_point{951'782'399s + 999ms}) == "2000-02-28T23:59:59.999Z");
    CHECK(sys::format_utc(system_clock::time_point{951'782'400s}) == "2000-02-29T00:00:00.000Z");
    CHECK(sys::format_utc(system_clock::time_point{-1ms}) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("the present has a UTC time", "[machine]")
{
    const std::string now = sys::utc_now();
    CHECK(now.size() == 24);
    CHECK(now > "2024-01-01T00:00:00.000Z");
    CHECK(now.back() == 'Z');
}

TEST_CASE("the clock runs forward and sleeps at least as long as asked", "[machine]")
{
    const sys::SystemClock clock;
    auto before = clock.now();
    for (int i = 0; i < 1000; ++i) {
        const auto after = clock.now();
        REQUIRE(after >= before);
        before = after;
    }
    clock.sleep_for(5ms);
    CHECK(clock.now() - before >= 5ms);
    clock.sleep_for(0ns);
    clock.sleep_for(-1h);
    CHECK(clock.now() - before < 1h);
}

TEST_CASE("a signal does not cut a sleep short", "[machine]")
{
    const tests::Disposition noted{SIGUSR1, [](int) {}};
    const auto sleeper = ::pthread_self();
    std::thread disturber{[sleeper] {
        for (int i = 0; i < 5; ++i) {
            std::this_thread::sleep_for(3ms);
            ::pthread_kill(sleeper, SIGUSR1);
        }
    }};
    const sys::SystemClock clock;
    const auto begin = clock.now();
    clock.sleep_for(40ms);
    CHECK(clock.now() - begin >= 40ms);
    disturber.join();
}

TEST_CASE("a process's cpu time grows with work, not with sleep", "[machine]")
{
    const sys::SystemClock clock;
    const auto begin = clock.process_cpu();
    clock.sleep_for(50ms);
    const auto asleep = clock.process_cpu() - begin;
    CHECK(asleep < 25ms);
    while (clock.process_cpu() - begin < asleep + 10ms) {
    }
    CHECK(clock.process_cpu() > begin);
}
