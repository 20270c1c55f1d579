#include "core/sys/threads.hpp"

#include <chrono>
#include <vector>

#include "core/sys/processors.hpp"
#include "tests/support/catch.hpp"

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
