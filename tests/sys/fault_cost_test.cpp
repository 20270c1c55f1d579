#include <chrono>
#include <iostream>

#include "core/sys/machine_measures.hpp"
#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/fault_count.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

// Shows a fixed time for each first pass over the pages, and another for each second.
class FaultingClock final : public sys::Clock {
  public:
    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override
    {
        // Readings come in fours: begin and end of the first pass, begin and end of the second.
        const int phase = readings_++ % 4;
        now_ += phase == 1 ? first_pass : phase == 3 ? second_pass : 1s;
        return now_;
    }
    [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return {}; }
    void sleep_for(std::chrono::nanoseconds) const noexcept override {}

    std::chrono::nanoseconds first_pass{};
    std::chrono::nanoseconds second_pass{};

  private:
    mutable int readings_{};
    mutable std::chrono::nanoseconds now_{};
};

}  // namespace

TEST_CASE("the cost of a fault is the first pass less the second, per page", "[unit]")
{
    FaultingClock clock;
    const std::uint64_t page_count = (16U << 20) / sys::page_size();
    const auto pages = static_cast<double>(page_count);
    clock.first_pass = 5ms;
    clock.second_pass = 1ms;
    const auto cost = sys::measure_fault_cost(clock);
    REQUIRE(cost);
    CHECK(cost->seconds_per_fault == Approx(0.004 / pages));
    CHECK(cost->fastest_seconds_per_fault == Approx(0.004 / pages));
    CHECK(cost->faults == page_count);
    clock.first_pass = 1ms;
    clock.second_pass = 2ms;
    CHECK(sys::measure_fault_cost(clock)->seconds_per_fault == 0.0);
}

TEST_CASE("this machine's faults cost something, and are as many as said", "[machine]")
{
    const sys::SystemClock clock;
    std::uint64_t pages = 0;
    double seconds = 0;
    const auto faults = tests::faults_of([&] {
        const auto cost = sys::measure_fault_cost(clock);
        REQUIRE(cost);
        pages = cost->faults;
        seconds = cost->seconds_per_fault;
        CHECK(cost->fastest_seconds_per_fault <= seconds);
    });
    CHECK(seconds > 0.0);
    CHECK(seconds < 0.01);
    tests::check_close(faults, 6 * pages);
}

TEST_CASE("shared pages fault once when they are made, and again when their entries went", "[machine]")
{
    const sys::SystemClock clock;
    const auto faults_of_kind = [&clock](sys::FaultKind kind) {
        return tests::faults_of([&] { REQUIRE(sys::measure_fault_cost(clock, kind)); });
    };
    const std::uint64_t pages = (16U << 20) / sys::page_size();
    tests::check_close(faults_of_kind(sys::FaultKind::shared_page), 6 * pages);
    tests::check_close(faults_of_kind(sys::FaultKind::shared_again), 12 * pages);
}

TEST_CASE("a huge page costs more than a base page, and less than all it stands for", "[machine]")
{
    const sys::SystemClock clock;
    const auto huge = sys::measure_fault_cost(clock, sys::FaultKind::huge_page);
    if (!huge) {
        std::cout << "skipped: cost of huge pages: " << huge.error().message << '\n';
        return;
    }
    CHECK(huge->faults == 8);
    CHECK(huge->seconds_per_fault >= 0);
}
