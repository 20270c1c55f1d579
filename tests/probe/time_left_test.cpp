#include <chrono>

#include "core/probe/time_left.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;

namespace {

class SetClock final : public sys::Clock {
  public:
    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override { return time; }
    [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return time; }
    void sleep_for(std::chrono::nanoseconds /*duration*/) const noexcept override {}

    std::chrono::nanoseconds time{};
};

}  // namespace

TEST_CASE("what is left of a probe is told from its parts, at the pace of those that have ended", "[unit]")
{
    SetClock clock;
    probe::TimeLeft left{clock, {{"first", 4}, {"second", 2}, {"third", 3}}};
    CHECK(left.seconds() == Approx(9));
    clock.time += std::chrono::seconds{3};
    CHECK(left.seconds() == Approx(6));
    clock.time += std::chrono::seconds{5};
    CHECK(left.seconds() == Approx(5));  // the first takes longer than usual, and may end at any time

    left.begin("second");  // the first took twice as long
    CHECK(left.seconds() == Approx(10));
    left.begin("of another probe");
    CHECK(left.seconds() == Approx(10));
    left.begin("third");
    clock.time += std::chrono::seconds{60};
    CHECK(left.seconds() == 0);
}

TEST_CASE("where no part is known, nothing is said of what is left", "[unit]")
{
    const SetClock clock;
    probe::TimeLeft left{clock, {}};
    left.begin("latency");
    CHECK(left.seconds() == 0);
}
