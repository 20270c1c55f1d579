#include "core/sys/threads.hpp"

#include <chrono>
#include <thread>

#include "core/sys/process_probe.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sanitized.hpp"

using namespace memsweep;

TEST_CASE("an idle thread has touched all of its pages when it is there", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    REQUIRE(probe);
    constexpr int rounds = 50;
    int quiet = 0;  // the kernel may take a page of ours in between (DAMON, NUMA balancing)
    for (int round = 0; round < rounds; ++round) {
        const sys::IdleThread idle;
        const auto before = probe->faults();
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
        const auto after = probe->faults();
        quiet += after.minor + after.major == before.minor + before.major;
    }
    CHECK((tests::sanitized || quiet >= rounds - 2));  // a sanitizer has a thread of its own
}
