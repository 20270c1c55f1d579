// Counters that each thread keeps for itself, read as one.
#include <array>
#include <set>

#include "core/memory/counters.hpp"
#include "core/memory/thread_slot.hpp"
#include "tests/lifetime/threads.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::memory {

TEST_CASE("counters: what threads count adds up, those without a number of their own included", "[unit]")
{
    Counters counters;
    constexpr std::size_t threads = thread_slots + 8;
    tests::in_parallel(threads, [&](std::size_t number) {
        for (int i = 0; i < 5000; ++i) {
            counters.count_granted(10 + number);
            counters.count_returned(10);
        }
        counters.count_refused();
    });
    CHECK(counters.allocations() == 5000 * threads);
    CHECK(counters.deallocations() == 5000 * threads);
    CHECK(counters.refusals() == threads);
    CHECK(counters.live_bytes() == 5000 * threads * (threads - 1) / 2);
}

TEST_CASE("counters: the peak is exact while one thread allocates, whoever frees", "[unit]")
{
    Counters counters;
    for (int i = 0; i < 100; ++i) {
        counters.count_granted(7);
    }
    CHECK(counters.live_bytes_peak() == 700);
    std::thread{[&] { counters.count_returned(400); }}.join();
    counters.count_granted(100);
    CHECK(counters.live_bytes() == 400);
    CHECK(counters.live_bytes_peak() == 700);
    counters.count_granted(301);
    CHECK(counters.live_bytes_peak() == 701);
    counters.restart_peak();
    counters.count_returned(1);
    CHECK(counters.live_bytes_peak() == 701);
}

TEST_CASE("counters: with several threads allocating, the peak misses at most 64 KiB of each", "[unit]")
{
    Counters counters;
    counters.count_granted(1);
    std::thread{[&] {
        for (int i = 0; i < 1000; ++i) {
            counters.count_granted(1000);
        }
    }}.join();
    CHECK(counters.live_bytes() == 1'000'001);
    CHECK(counters.live_bytes_peak() <= 1'000'001);
    CHECK(counters.live_bytes_peak() >= 1'000'001 - 2 * 65'536);
}

TEST_CASE("thread slots: living threads have different ones, and a number comes back when its thread ends", "[unit]")
{
    static_cast<void>(thread_slot());
    std::array<std::uint32_t, 16> slots{};
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> here{0};
        tests::in_parallel(slots.size(), [&](std::size_t number) {
            slots[number] = thread_slot();
            ++here;
            while (here < static_cast<int>(slots.size())) {
                std::this_thread::yield();
            }
        });
        const std::set<std::uint32_t> distinct{slots.begin(), slots.end()};
        REQUIRE(distinct.size() == slots.size());
        REQUIRE(!distinct.contains(thread_slot()));
        REQUIRE(*distinct.rbegin() < thread_slots);  // 20 * 16 would not fit if they did not come back
    }
    const SlotHold own{thread_slot()};
    CHECK_FALSE(own);
    const SlotHold ended{slots[3]};
    CHECK(ended);
}

}  // namespace memsweep::memory
