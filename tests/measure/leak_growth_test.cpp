#include "core/measure/leak_growth.hpp"

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

using HeldBy = std::function<std::uint64_t(std::uint64_t operations)>;

std::vector<HeldAfter> held(const std::vector<std::uint64_t>& operations, const HeldBy& bytes, const HeldBy& blocks)
{
    std::vector<HeldAfter> runs;
    for (const std::uint64_t n : operations) {
        for (int run = 0; run < 2; ++run) {
            runs.push_back({n, bytes(n), blocks(n)});
        }
    }
    return runs;
}

}  // namespace

TEST_CASE("growth: what every operation leaves behind is exact", "[unit]")
{
    const auto growth = growth_of(held(
        {10, 20, 40}, [](auto n) { return 1000 + 64 * n; }, [](auto n) { return 3 + n; }));
    CHECK(growth.growth == Growth::steady);
    CHECK(growth.is_exact);
    CHECK_FALSE(growth.varies);
    CHECK(growth.bytes == 64);
    CHECK(growth.blocks == 1);
}

TEST_CASE("growth: one block in a hundred operations is steady, and no exact rate", "[unit]")
{
    const auto growth = growth_of(held(
        {150, 300, 650}, [](auto n) { return n / 100 * 48; }, [](auto n) { return n / 100; }));
    CHECK(growth.growth == Growth::steady);
    CHECK_FALSE(growth.is_exact);
    CHECK(growth.blocks == 0.01);
}

TEST_CASE("growth: what is made once is none, whatever its slope", "[unit]")
{
    const auto once = growth_of(held(
        {10, 20, 40}, [](auto n) { return n > 10 ? 4096U : 0U; }, [](auto n) { return n > 10 ? 1U : 0U; }));
    CHECK(once.growth == Growth::none);
    CHECK(once.bytes > 0);
    CHECK(once.grew_from == 10);
    CHECK(once.grew_until == 20);
    CHECK(growth_of(held(
                        {10, 20}, [](auto) { return 7U; }, [](auto) { return 1U; }))
              .is_exact);
    // What shrinks does not grow.
    CHECK(growth_of(held(
                        {10, 20, 40}, [](auto n) { return 400 / n; }, [](auto) { return 1U; }))
              .growth == Growth::none);
    CHECK(growth_of(held(
                        {10, 20, 40}, [](auto) { return 7U; }, [](auto) { return 1U; }))
              .grew_until == 0);
}

TEST_CASE("growth: copies of a number with more digits are none", "[unit]")
{
    const auto digits = [](std::uint64_t n) { return n < 10 ? 1U : n < 100 ? 2U : 3U; };
    const HeldBy two = [](std::uint64_t) { return 2U; };
    const HeldBy copies = [&](std::uint64_t n) { return 2 * (7 + digits(n)); };
    CHECK(growth_of(held({5, 50, 500}, copies, two)).growth == Growth::none);
    const HeldBy longer = [&](std::uint64_t n) { return copies(n) + (n > 5 ? 1U : 0U) + (n > 50 ? 1U : 0U); };
    CHECK(growth_of(held({5, 50, 500}, longer, two)).growth == Growth::steady);
    // One byte for each operation in a block of its own is a leak all the same.
    const HeldBy each = [](std::uint64_t n) { return n; };
    CHECK(growth_of(held({9, 10, 11}, each, each)).growth == Growth::steady);
}

TEST_CASE("growth: only the last step is late", "[unit]")
{
    const auto growth = growth_of(held(
        {10, 20, 40}, [](auto n) { return n / 25 * 64; }, [](auto n) { return n / 25; }));
    CHECK(growth.growth == Growth::late);
}

TEST_CASE("growth: runs that overlap prove nothing", "[unit]")
{
    const std::vector<HeldAfter> runs{{10, 100, 1}, {10, 900, 9}, {20, 800, 8}, {20, 1000, 10}};
    const auto growth = growth_of(runs);
    CHECK(growth.growth == Growth::none);
    CHECK(growth.varies);
}

TEST_CASE("growth: noise alone passes for growth as seldom as said", "[unit]")
{
    base::Rng random{7};
    constexpr int trials = 20'000;
    int taken_for_growth = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<HeldAfter> runs;
        for (const std::uint64_t n : {10U, 20U, 40U}) {
            for (int run = 0; run < 3; ++run) {
                const std::uint64_t noise = random.next() % 1'000'000;
                runs.push_back({n, noise, noise});
            }
        }
        taken_for_growth += growth_of(runs).growth == Growth::steady ? 1 : 0;
    }
    CHECK(taken_for_growth > 0);
    CHECK(taken_for_growth < trials * 12 / 10'000);  // expected 12, at 0.06 %
}
