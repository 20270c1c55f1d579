#include "core/sys/threads.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "core/sys/process_probe.hpp"
#include "core/sys/processors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;

namespace {

const sys::SystemClock clock_here;

}  // namespace

TEST_CASE("a pool of pinned threads starts together and is timed from the first start to the last end", "[machine]")
{
    auto started = sys::PinnedThreads::start(clock_here, sys::allowed_cpus());
    REQUIRE(started);
    sys::PinnedThreads& pool = *started;
    std::vector<int> ran(pool.size());
    std::chrono::nanoseconds inside{};
    const auto outside_begin = clock_here.now();
    const auto time = pool.run([&](std::size_t number) {
        const auto begin = clock_here.now();
        clock_here.sleep_for(std::chrono::milliseconds{number == 0 ? 5 : 1});
        ++ran[number];
        if (number == 0) {
            inside = clock_here.now() - begin;
        }
    });
    CHECK(ran == std::vector<int>(pool.size(), 1));
    CHECK(time >= inside);
    CHECK(time <= clock_here.now() - outside_begin);
    CHECK_FALSE(sys::PinnedThreads::start(clock_here, {}));
    CHECK_FALSE(sys::PinnedThreads::start(clock_here, {60'000}));
}

TEST_CASE("an idle thread has touched all of its pages when it is there", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    constexpr int rounds = 50;
    int quiet = 0;  // the kernel may take a page of ours in between (DAMON, NUMA balancing)
    for (int round = 0; round < rounds; ++round) {
        const sys::IdleThread idle;
        const auto before = probe->kernel_use();
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
        const auto used = probe->kernel_use() - before;
        quiet += used.minor_faults + used.major_faults == 0;
    }
    CHECK((tests::sanitized || quiet >= rounds - 2));  // a sanitizer has a thread of its own
}
