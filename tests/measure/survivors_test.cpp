// What has grown all the time is told from what filled once, is full, or waits for its end.
#include "core/measure/survivors.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/rng.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests::survivors {
using namespace measure;
namespace {

constexpr std::uint64_t now = 100'000;

// Blocks that live for so long on average, exponentially; what is live at the end, and how long the others have lived.
std::vector<Survivor> churn(base::Rng& random, std::uint64_t mean, Lifetimes& lives)
{
    std::vector<Survivor> survivors;
    for (std::uint64_t born = 0; born < now; born += 3) {
        std::uint64_t life = 1;
        while (random.below(mean) != 0 && born + life < now) {
            ++life;
        }
        if (born + life < now) {
            lives.add(life);
        } else {
            survivors.push_back({born, 100});
        }
    }
    return survivors;
}

}  // namespace

TEST_CASE("survivors: a leak beside churn grows, at any rate", "[unit]")
{
    base::Rng random{3};
    for (const std::uint64_t step : {50U, 500U, 4000U}) {
        Lifetimes lives;
        static_cast<void>(churn(random, 200, lives));
        std::vector<Survivor> lost;
        for (std::uint64_t born = 10; born < now; born += step) {
            lost.push_back({born, 48});
        }
        CHECK(grows(lost, lives.longest(), now));
    }
}

TEST_CASE("survivors: churn, a table that filled once and a burst are no growth", "[unit][campaign]")
{
    base::Rng random{5};
    int wrong = 0;
    for (int round = 0; round < 50; ++round) {
        Lifetimes lives;
        const std::vector<Survivor> live = churn(random, 100 + random.below(1500), lives);
        wrong += grows(live, lives.longest(), now) ? 1 : 0;
        std::vector<Survivor> table;
        for (std::uint64_t born = random.below(now / 2); table.size() < 500; born += 7) {
            table.push_back({born, 100});
        }
        wrong += grows(table, lives.longest(), now) ? 1 : 0;
    }
    CHECK(wrong == 0);
}

TEST_CASE("survivors: none of a thousand programs that do not leak grows, and most of a thousand that do are found",
          "[unit]")
{
    constexpr int rounds = 1000;
    constexpr std::uint64_t between = 20;  // events from one block to the next
    base::Rng random{11};
    const auto life_of = [&](double mean) {
        const double share = (static_cast<double>(random.below(1U << 30U)) + 1) / (1U << 30U);
        return 1 + static_cast<std::uint64_t>(-mean * std::log(share));
    };
    int grown = 0;
    int found = 0;
    for (int round = 0; round < rounds; ++round) {
        Lifetimes lives;
        std::vector<Survivor> live;
        const auto put = [&](std::uint64_t born, std::uint64_t life) {
            if (born + life < now) {
                lives.add(life);
            } else {
                live.push_back({born, 16 + random.below(500)});
            }
        };
        const double mean = 20 + static_cast<double>(random.below(now / 20));
        const std::uint64_t same = 20 + random.below(now / 4);
        const std::uint64_t phase = now / (2 + random.below(20));
        const std::uint64_t filled_from = random.below(now / 2);
        const std::uint64_t filled_until = filled_from + 1 + random.below(now / 5);
        for (std::uint64_t born = random.below(between); born < now; born += between) {
            switch (round % 4) {
            case 0:  // replaced by chance, as in a table of requests
                put(born, life_of(mean));
                break;
            case 1:  // a cache at its size, the oldest goes
                put(born, same);
                break;
            case 2:  // a phase frees what it has made
                put(born, phase - born % phase);
                break;
            default:  // a table that filled once, beside what comes and goes
                put(born, born >= filled_from && born < filled_until ? now : life_of(mean / 10));
            }
        }
        grown += grows(live, lives.longest(), now) ? 1 : 0;

        std::vector<Survivor> lost;
        const std::uint64_t step = 10 + random.below(now / 40);
        for (std::uint64_t born = random.below(now / 2); born < now; born += 1 + random.below(2 * step)) {
            lost.push_back({born, 16 + random.below(100)});
        }
        found += grows(lost, lives.longest(), now) ? 1 : 0;
    }
    INFO(found << " of " << rounds << " leaks found");
    CHECK(grown == 0);
    CHECK(found > rounds / 2);
}

TEST_CASE("survivors: what is young, or less than can be told, is no growth", "[unit]")
{
    CHECK_FALSE(grows({}, 10, now));
    const std::vector<Survivor> young{{now - 5, 100}, {now - 4, 100}};
    CHECK_FALSE(grows(young, 10, now));
    std::vector<Survivor> all;
    for (std::uint64_t born = 0; born < now; born += 100) {
        all.push_back({born, 8});
    }
    CHECK(grows(all, 10, now));
    CHECK_FALSE(grows(all, now, now));           // blocks may live as long as the program
    CHECK_FALSE(grows(all, now * 6 / 10, now));  // or nearly
}

TEST_CASE("survivors: the longest life is that of 99.9 %, at most an eighth too long", "[unit]")
{
    for (const std::uint64_t life : {0ULL, 1ULL, 7ULL, 8ULL, 100ULL, 12'345ULL, 1ULL << 40U}) {
        Lifetimes lives;
        for (int i = 0; i < 1000; ++i) {
            lives.add(life);
        }
        lives.add(1ULL << 50U);
        CHECK(lives.count() == 1001);
        CHECK(lives.longest() >= life);
        CHECK(lives.longest() <= life + life / 8);
    }
}

}  // namespace memsweep::tests::survivors
