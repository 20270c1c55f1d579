// The search for advice over simulated programs, whose truth is known.
#include "core/schedule/advice_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/measure/advice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"

using namespace memsweep;

namespace {

constexpr double mib = 1 << 20;

struct Truth {
    double memory{40 * mib};
    double seconds{0.3};
    bool fails{};
};

struct Simulated {
    std::vector<Truth> cases;
    double memory_noise{0.001};
    double time_noise{0.05};
};

double normal(base::Rng& random)
{
    double sum = 0;
    for (int i = 0; i < 12; ++i) {
        sum += static_cast<double>(random.below(1'000'001)) / 1e6;
    }
    return sum - 6;
}

struct Searched {
    schedule::AdviceOutcome outcome;
    std::uint32_t turns{};
    double seconds{};
};

// Takes the turns that the search asks for, as a Runner does; `stop_after`: the user interrupts it then.
Searched search(const Simulated& program, schedule::AdviceTerms terms, std::uint64_t seed,
                std::optional<std::uint32_t> stop_after = {})
{
    base::Rng random{seed};
    tests::FakeClock clock;
    terms.memory = "working_set_end";
    terms.time = "cpu_time";
    terms.seed = seed;
    model::RunReport report;
    std::vector<bool> keeps;
    for (std::size_t i = 0; i < program.cases.size(); ++i) {
        report.cases.emplace_back().status = model::Status::skipped;
        report.cases.back().metrics = {{.name = "working_set_end"}, {.name = "cpu_time"}};
        keeps.push_back(i % 2 == 0);
    }
    schedule::AdviceSearch search{keeps, terms, clock};
    Searched searched;
    const double begin = sys::seconds_of(clock.now());
    while (searched.turns != stop_after.value_or(10'000)) {
        const schedule::Next next = search.next(report);
        const auto* turn = std::get_if<schedule::Turn>(&next);
        if (turn == nullptr) {
            break;
        }
        ++searched.turns;
        const std::size_t index = turn->cases.front();
        const Truth& truth = program.cases[index];
        model::CaseReport& one = report.cases[index];
        CHECK(turn->repetition == one.repetitions);
        const double seconds = truth.seconds * std::exp(program.time_noise * normal(random));
        clock.sleep_for(std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
        if (truth.fails) {
            one.status = model::Status::error;
            continue;
        }
        one.status = model::Status::ok;
        ++one.repetitions;
        one.metrics[0].values.push_back(truth.memory * std::exp(program.memory_noise * normal(random)));
        one.metrics[1].values.push_back(seconds);
    }
    searched.seconds = sys::seconds_of(clock.now()) - begin;
    searched.outcome = search.outcome(report);
    return searched;
}

// A program and 20 settings that do nothing.
Simulated indifferent()
{
    return {.cases = std::vector<Truth>(21)};
}

}  // namespace

TEST_CASE("of programs that no setting changes at least 95 of 100 are left as they are", "[unit][campaign]")
{
    for (const double memory_noise : {0.0005, 0.01, 0.04}) {
        for (const double time_noise : {0.02, 0.1}) {
            INFO(memory_noise << ", " << time_noise);
            Simulated program = indifferent();
            program.memory_noise = memory_noise;
            program.time_noise = time_noise;
            int changes = 0;
            for (std::uint64_t seed = 1; seed <= 200; ++seed) {
                const Searched searched = search(program, {}, seed);
                changes += searched.outcome.best && searched.outcome.gain.claim == measure::Claim::proven ? 1 : 0;
            }
            CHECK(changes <= 10);
        }
    }
}

TEST_CASE("the best setting is found, and no dear one is taken for it", "[unit][campaign]")
{
    int right = 0;
    int dear = 0;
    constexpr int programs = 200;
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        base::Rng random{seed};
        Simulated program = indifferent();
        for (std::size_t i = 1; i < program.cases.size(); ++i) {
            program.cases[i].memory = mib * static_cast<double>(20 + random.below(30));
            program.cases[i].seconds = 0.3 * (0.9 + static_cast<double>(random.below(60)) / 100);
        }
        const std::size_t best = 1 + random.below(20);
        const std::size_t smallest = 1 + best % 20;
        program.cases[best] = {.memory = 12 * mib, .seconds = 0.3};
        program.cases[smallest] = {.memory = 5 * mib, .seconds = 0.9};
        const Searched searched = search(program, {}, seed);
        REQUIRE(searched.outcome.best);
        CHECK(searched.outcome.gain.claim == measure::Claim::proven);
        right += *searched.outcome.best == best ? 1 : 0;
        const bool promises = searched.outcome.price.claim == measure::Claim::proven;
        dear += promises && program.cases[*searched.outcome.best].seconds > 0.3 * 1.07 ? 1 : 0;
    }
    CHECK(right >= programs * 95 / 100);
    CHECK(dear <= programs / 100);
}

TEST_CASE("a promise on time is broken in at most one of a hundred", "[unit][campaign]")
{
    int broken = 0;
    constexpr int programs = 300;
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        Simulated program = indifferent();
        program.cases[3] = {.memory = 20 * mib, .seconds = 0.3 * 1.07};  // more than the 1.05 that it may take
        const Searched searched = search(program, {}, seed);
        broken += searched.outcome.best && searched.outcome.price.claim == measure::Claim::proven ? 1 : 0;
    }
    CHECK(broken <= programs / 100);
}

TEST_CASE("the budget is kept, in runs and in time", "[unit]")
{
    for (const std::uint32_t runs : {4U, 7U, 15U, 40U, 110U}) {
        Simulated program = indifferent();
        program.cases[2].memory = 10 * mib;
        const Searched searched = search(program, {.most_runs = runs}, runs);
        CHECK(searched.turns <= runs);
        CHECK(searched.turns == searched.outcome.runs);
    }
    for (const int seconds : {5, 20, 120}) {
        Simulated program = indifferent();
        program.cases[2].memory = 10 * mib;
        program.time_noise = 0.01;
        const Searched searched = search(program, {.budget = std::chrono::seconds{seconds}}, 7);
        CHECK(searched.seconds <= seconds * 1.01);
        CHECK(searched.outcome.runs >= 3);
    }
    Simulated slow = indifferent();
    for (Truth& one : slow.cases) {
        one.seconds = 60;
    }
    slow.cases[1].memory = 10 * mib;
    const Searched searched = search(slow, {.budget = std::chrono::minutes{15}}, 3);
    CHECK(searched.turns <= 15);
    CHECK(searched.outcome.best == std::optional<std::size_t>{1});
    CHECK(searched.outcome.ran_out);
}

TEST_CASE("a setting is tried wherever the budget has room for one, however little", "[unit]")
{
    Simulated program = indifferent();
    program.time_noise = 0;
    for (const double seconds : {0.8, 0.9, 0.99}) {
        for (Truth& one : program.cases) {
            one.seconds = seconds;
        }
        const Searched searched = search(program, {.budget = std::chrono::seconds{4}}, 1);
        CHECK(searched.outcome.runs == 4);
        CHECK(searched.outcome.options[1].stage != measure::AdviceStage::untried);
    }
}

TEST_CASE("no run begins that would end after the budget, not even the first", "[unit]")
{
    const std::chrono::seconds budget{4};
    CHECK(search(indifferent(), {.budget = budget, .usual_run = budget * 2}, 1).turns == 0);
    CHECK(search(indifferent(), {.budget = budget, .usual_run = budget / 2}, 1).turns > 0);
}

TEST_CASE("while nothing gains, the whole budget is for the race", "[unit]")
{
    Simulated program = indifferent();
    program.time_noise = 0;
    program.cases[17].memory = 10 * mib;
    const Searched searched = search(program, {.most_runs = 26}, 1);
    CHECK(searched.outcome.best == std::optional<std::size_t>{17});
    CHECK(searched.turns <= 26);
    program.cases[2].memory = 20 * mib;
    const Searched other = search(program, {.most_runs = 26}, 1);
    CHECK(other.outcome.best == std::optional<std::size_t>{2});
    CHECK(other.outcome.options[17].stage == measure::AdviceStage::untried);
    CHECK(other.outcome.gain.claim == measure::Claim::proven);
}

TEST_CASE("settings race where runs are cheap, and are replayed where they are dear", "[unit]")
{
    using schedule::AdviceWay;
    using std::chrono::milliseconds;
    using std::chrono::minutes;
    using std::chrono::seconds;
    CHECK(schedule::way_of({.run = milliseconds{300}, .settings = 20}) == AdviceWay::race);
    CHECK(schedule::way_of({.run = seconds{10}, .settings = 20}) == AdviceWay::race);
    CHECK(schedule::way_of({.run = seconds{11}, .settings = 1}) == AdviceWay::replay);
    // Twenty runs of 3 s are half of two minutes.
    CHECK(schedule::way_of({.run = seconds{3}, .settings = 20, .budget = minutes{2}}) == AdviceWay::race);
    CHECK(schedule::way_of({.run = seconds{4}, .settings = 20, .budget = minutes{2}}) == AdviceWay::replay);
    CHECK(schedule::way_of({.run = seconds{4}, .settings = 10, .budget = minutes{2}}) == AdviceWay::race);
    // A replay rests as long as the program.
    CHECK(schedule::way_of({.run = seconds{13}, .rest = seconds{12}, .settings = 20}) == AdviceWay::race);
    CHECK(schedule::way_of({.run = seconds{13}, .rest = seconds{12}, .settings = 20, .budget = minutes{1}}) ==
          AdviceWay::race);
    CHECK(schedule::way_of({.run = seconds{60}, .rest = seconds{12}, .settings = 20}) == AdviceWay::replay);
}

TEST_CASE("beside replays the best predicted run for real, and the best is confirmed, in few runs", "[unit]")
{
    constexpr std::uint32_t before = 2;  // one to look at it, one that is recorded
    int right = 0;
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        Simulated program = indifferent();
        for (Truth& one : program.cases) {
            one.seconds = 60;
        }
        program.cases[1] = {.memory = 8 * mib, .seconds = 100};  // predicted best, and slow
        program.cases[3].memory = 12 * mib;
        program.cases[5].memory = 4 * mib;  // predicted badly: it does not run
        const Searched searched = search(program,
                                         {.most_runs = schedule::runs_beside_replays - before,
                                          .most_raced = schedule::raced_beside_replays,
                                          .share_of_race = 0.6},
                                         seed);
        CHECK(searched.turns + before <= schedule::runs_beside_replays);
        const bool is_proven = searched.outcome.gain.claim == measure::Claim::proven;
        right += searched.outcome.best == std::optional<std::size_t>{3} && is_proven ? 1 : 0;
        CHECK(searched.outcome.options[4].stage != measure::AdviceStage::untried);
        CHECK(searched.outcome.options[5].stage == measure::AdviceStage::untried);
    }
    CHECK(right >= 47);  // one run of a good one may be slow
}

TEST_CASE("the best setting is not lost for one slow run", "[unit][campaign]")
{
    int right = 0;
    constexpr int programs = 200;
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        Simulated program = indifferent();
        program.time_noise = 0.08;
        program.cases[7].memory = 10 * mib;
        program.cases[8].memory = 25 * mib;
        const Searched searched = search(program, {}, seed);
        right += searched.outcome.best == std::optional<std::size_t>{7} ? 1 : 0;
    }
    CHECK(right >= programs * 96 / 100);
}

TEST_CASE("what keeps the allocator is taken where another one gains hardly more", "[unit]")
{
    Simulated program = indifferent();
    program.cases[1].memory = 20 * mib;    // replaces it
    program.cases[4].memory = 20.5 * mib;  // keeps it
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CHECK(search(program, {}, seed).outcome.best == std::optional<std::size_t>{4});
    }
    program.cases[4].memory = 25 * mib;
    CHECK(search(program, {}, 1).outcome.best == std::optional<std::size_t>{1});
}

TEST_CASE("settings that fail are left out, and a program that fails as it is has no advice", "[unit]")
{
    Simulated program = indifferent();
    program.cases[2] = {.memory = 1 * mib, .fails = true};
    program.cases[5].memory = 20 * mib;
    const Searched searched = search(program, {}, 5);
    CHECK(searched.outcome.best == std::optional<std::size_t>{5});
    CHECK(searched.outcome.options[2].drop == schedule::AdviceDrop::failed);

    program.cases[0].fails = true;
    const Searched none = search(program, {}, 5);
    CHECK_FALSE(none.outcome.has_default);
    CHECK_FALSE(none.outcome.best);
    CHECK(none.turns == 1);
}

TEST_CASE("whenever the user interrupts it, the best so far is known", "[unit]")
{
    Simulated program = indifferent();
    program.cases[2].memory = 10 * mib;
    for (std::uint32_t turns = 0; turns < 60; ++turns) {
        const schedule::AdviceOutcome outcome = search(program, {}, 9, turns).outcome;
        CHECK(outcome.best.has_value() == (turns >= 5));  // three as it is, one of the first, one of the second
    }
}

TEST_CASE("a gain needs three pairs, a size, and more than chance", "[unit]")
{
    using Pairs = std::vector<measure::PairOfValues>;
    const measure::LeastGain least;
    const measure::PairOfValues good{40 * mib, 20 * mib};
    CHECK(measure::judge_gain(Pairs{}, least).claim == measure::Claim::open);
    CHECK(measure::judge_gain(Pairs{good, good}, least).claim == measure::Claim::open);
    const measure::Judged proven = measure::judge_gain(Pairs{good, good, good}, least);
    CHECK(proven.claim == measure::Claim::proven);
    CHECK(proven.ratio == 0.5);
    const measure::PairOfValues small{40 * mib, 39.5 * mib};
    CHECK(measure::judge_gain(Pairs{small, small, small}, least).claim == measure::Claim::refuted);
    CHECK(measure::judge_gain(Pairs{good, {40 * mib, 60 * mib}, good}, least).claim == measure::Claim::open);
}

TEST_CASE("a price is proven below the limit and refuted above it", "[unit]")
{
    const auto pairs_of = [](double ratio) {
        base::Rng random{3};
        std::vector<measure::PairOfValues> pairs;
        for (int i = 0; i < 30; ++i) {
            pairs.push_back({1 + 0.01 * normal(random), ratio * (1 + 0.01 * normal(random))});
        }
        return pairs;
    };
    CHECK(measure::judge_price(pairs_of(0.9), 1.05).claim == measure::Claim::proven);
    CHECK(measure::judge_price(pairs_of(1.0), 1.05).claim == measure::Claim::proven);
    CHECK(measure::judge_price(pairs_of(1.2), 1.05).claim == measure::Claim::refuted);
    CHECK(measure::judge_price(pairs_of(1.2), 1.3).claim == measure::Claim::proven);
    CHECK(measure::judge_price({}, 1.05).claim == measure::Claim::open);
    CHECK_FALSE(measure::is_affordable(measure::judge_price({}, 1.05), 1.05));
    using Pairs = std::vector<measure::PairOfValues>;
    CHECK(measure::is_affordable(measure::judge_price(Pairs{{1, 1.0}, {1, 0.9}}, 1.05), 1.05));
    CHECK_FALSE(measure::is_affordable(measure::judge_price(Pairs{{1, 1.2}, {1, 1.3}}, 1.05), 1.05));
}
