#include "core/sys/process_probe.hpp"

#include <array>
#include <thread>

#include <unistd.h>

#include "core/sys/interprocess.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/allocation_count.hpp"
#include "tests/sys/helper_role.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

TEST_CASE("a child's working set is seen to grow from outside, and to end with it", "[machine]")
{
    auto ends = sys::Channel::pair();
    REQUIRE(ends);
    auto child = sys::ChildProcess::spawn(tests::helper("touch", ends->second.fd()));
    REQUIRE(child);
    std::array<char, 16> buffer{};
    REQUIRE(ends->first.receive(buffer, 30s)->bytes == "before");
    auto watch = sys::ProcessWatch::open(child->pid());
    REQUIRE(watch);
    const auto before = watch->working_set_bytes();
    REQUIRE(ends->first.send("go"));
    REQUIRE(ends->first.receive(buffer, 30s)->bytes == "touched");
    const auto allocations = tests::allocation_count();
    const auto after = watch->working_set_bytes();
    CHECK(tests::allocation_count() == allocations);
    REQUIRE((before && after));
    CHECK(*after >= *before + (60U << 20));

    REQUIRE(ends->first.send("go"));
    for (int i = 0; i < 3000 && watch->working_set_bytes(); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    CHECK_FALSE(watch->working_set_bytes());  // a zombie: dead, and not reaped
    CHECK(child->wait_for(30s)->describe() == "exit code 0");
    CHECK_FALSE(watch->working_set_bytes());
}

TEST_CASE("both ways of looking at a process agree", "[machine]")
{
    auto probe = sys::OwnProcessProbe::open();
    auto watch = sys::ProcessWatch::open(::getpid());
    REQUIRE((probe && watch));
    const auto inside = probe->snapshot();
    const auto outside = watch->working_set_bytes();
    REQUIRE((inside && outside));
    const double both = static_cast<double>(inside->working_set_bytes());
    CHECK(static_cast<double>(*outside) == Approx(both).margin(8 << 20));
}

TEST_CASE("a process that is not there cannot be watched", "[machine]")
{
    const auto watch = sys::ProcessWatch::open(0x3FFFFFFF);
    REQUIRE_FALSE(watch);
    CHECK(watch.error().code == base::ErrorCode::os);
    CHECK(watch.error().where == "/proc/1073741823/status");
}
