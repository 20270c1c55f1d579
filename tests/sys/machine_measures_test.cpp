#include "core/sys/machine_measures.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <span>
#include <utility>

#include "core/sys/page_ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/sys/fault_count.hpp"
#include "tests/sys/temp_tree.hpp"

using namespace memsweep;
using namespace std::chrono_literals;

namespace {

// Every reading is one step later, and takes a new /proc/stat into view.
class SteppingClock final : public sys::Clock {
  public:
    SteppingClock(std::chrono::nanoseconds step, const tests::TempTree* tree = nullptr) : step_{step}, tree_{tree} {}

    [[nodiscard]] std::chrono::nanoseconds now() const noexcept override
    {
        if (tree_ != nullptr) {
            tree_->add("proc/stat", "cpu  150 0 0 25 0 0 0 25 0 0\ncpu0 1 0 0 0 0 0 0 0 0 0\n");
        }
        return now_ += step_;
    }
    [[nodiscard]] std::chrono::nanoseconds process_cpu() const noexcept override { return {}; }
    void sleep_for(std::chrono::nanoseconds) const noexcept override {}

  private:
    std::chrono::nanoseconds step_;
    const tests::TempTree* tree_;
    mutable std::chrono::nanoseconds now_{};
};

std::uint64_t pages_in(std::uint64_t bytes)
{
    return bytes / sys::page_size();
}

}  // namespace

TEST_CASE("the machine's pace copies data and no zeroes", "[machine]")
{
    const sys::SystemClock clock;
    sys::MachinePace pace{clock};
    REQUIRE(pace.read());
    const std::span<const std::byte> copied = pace.copied();
    REQUIRE(copied.size() == std::size_t{8} << 20U);
    for (const std::span<const std::byte> half : {copied.first(copied.size() / 2), copied.last(copied.size() / 2)}) {
        std::array<std::size_t, 256> counts{};
        for (const std::byte byte : half) {
            ++counts.at(std::to_integer<std::size_t>(byte));
        }
        CHECK(*std::ranges::max_element(counts) < half.size() / 128);  // no byte prevails, zero or other
    }
}

TEST_CASE("the canary times both halves of every round, and steal between", "[unit]")
{
    const tests::TempTree tree;
    tree.add("proc/stat", "cpu  100 0 0 0 0 0 0 0 0 0\n");
    const SteppingClock clock{2ms, &tree};
    const auto readings = sys::run_canary(clock, {.rounds = 4, .fewest_rounds = 2, .time = 1h}, tree.root());
    CHECK(readings.compute_seconds == std::vector<double>(4, 0.002));
    CHECK(readings.copy_seconds == std::vector<double>(4, 0.002));
    REQUIRE(readings.steal_share);
    CHECK(*readings.steal_share == Approx(0.25));
}

TEST_CASE("the canary ends early, and without /proc/stat tells no steal", "[unit]")
{
    const tests::TempTree tree;
    const SteppingClock clock{1s};
    const auto readings = sys::run_canary(clock, {.rounds = 100, .fewest_rounds = 3, .time = 1ms}, tree.root());
    CHECK(readings.compute_seconds.size() == 3);
    CHECK_FALSE(readings.steal_share);
}

TEST_CASE("first touches are measured until memory or time is used up", "[unit]")
{
    const SteppingClock clock{2048us};
    const auto chunks = sys::measure_first_touch(clock, 3 * sys::touched_chunk_bytes + 1, 1h);
    REQUIRE(chunks);
    REQUIRE(chunks->size() == 3);
    CHECK((*chunks)[0].first_seconds > 0);
    CHECK((*chunks)[0].first_seconds == (*chunks)[2].again_seconds);
    CHECK(sys::measure_first_touch(clock, 1ULL << 30, 14ms)->size() == 2);
    CHECK(sys::measure_first_touch(clock, 0, 1h)->empty());
}

TEST_CASE("this machine's canary sings", "[machine]")
{
    const sys::SystemClock clock;
    const auto readings = sys::run_canary(clock, {.rounds = 10});
    CHECK(readings.compute_seconds.size() == 10);
    for (const double seconds : readings.compute_seconds) {
        CHECK(seconds > 0);
    }
    CHECK(readings.copy_seconds.size() == 10);
    const auto chunks = sys::measure_first_touch(clock, 2 * sys::touched_chunk_bytes, 10s);
    REQUIRE(chunks);
    REQUIRE(chunks->size() == 2);
    CHECK(chunks->front().first_seconds > 0);
}

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
    clock.first_pass = 1200us;
    clock.second_pass = 1ms;
    const auto cost = sys::measure_fault_cost(clock);
    REQUIRE(cost);
    CHECK(cost->faults == pages_in(16U << 20));
    CHECK(cost->seconds_per_fault == Approx(0.0002 / static_cast<double>(cost->faults)));
    clock.first_pass = 1ms;
    clock.second_pass = 2ms;
    CHECK(sys::measure_fault_cost(clock)->seconds_per_fault == 0.0);
}

TEST_CASE("where faults are dear fewer of them are measured", "[unit]")
{
    FaultingClock clock;
    clock.second_pass = 0us;
    clock.first_pass = 2us * pages_in(1U << 20);  // 2,000 pages in 4 ms
    CHECK(sys::measure_fault_cost(clock)->faults == Approx(2000).margin(1));
    clock.first_pass = 1s;
    const auto dearest = sys::measure_fault_cost(clock);
    REQUIRE(dearest);
    CHECK(dearest->faults == pages_in(1U << 20));
    CHECK(dearest->seconds_per_fault == Approx(1.0 / static_cast<double>(dearest->faults)));
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
    });
    CHECK(seconds > 0.0);
    CHECK(seconds < 0.01);
    tests::check_close(faults, pages_in(1U << 20) + 6 * pages);
}

TEST_CASE("shared pages fault once when they are made, and again when their entries went", "[machine]")
{
    const sys::SystemClock clock;
    for (const auto& [kind, times] :
         {std::pair{sys::FaultKind::shared_page, 1U}, std::pair{sys::FaultKind::shared_again, 2U}}) {
        std::uint64_t pages = 0;
        const auto faults = tests::faults_of([&] {
            const auto cost = sys::measure_fault_cost(clock, kind);
            REQUIRE(cost);
            pages = cost->faults;
        });
        tests::check_close(faults, times * (pages_in(1U << 20) + 6 * pages));
    }
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
