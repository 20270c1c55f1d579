// Rounds of two programs: a disturbed round is taken again, a budget ends them, and each turn says that it is compared.
#include "core/schedule/paired_rounds.hpp"

#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/fake_environment.hpp"

using namespace memsweep;

namespace {

constexpr std::chrono::milliseconds calm{1};
constexpr std::chrono::milliseconds disturbed{50};

model::Plan two_builds(std::uint32_t repetitions)
{
    model::Plan plan;
    plan.settings.repetitions = repetitions;
    plan.settings.warmup = 1;
    for (const char* build : {"base", "candidate"}) {
        plan.cases.push_back({.id = build, .params = {{"build", std::string{build}}}});
    }
    return plan;
}

schedule::PairedRounds pairs(const model::Plan& plan, const sys::Clock& clock,
                             schedule::PairedRounds::Limits limits = {})
{
    return {schedule::Rounds{plan}, {{"build", "base"}, {"build", "candidate"}, {}}, limits, clock};
}

// "0 w0", "1 r3", "again 3": cases and repetitions in turn, until the end.
std::vector<std::string> turns_of(schedule::Schedule& rounds, tests::FakeClock& clock, std::size_t disturbed_turn = 0)
{
    std::vector<std::string> turns;
    const model::RunReport nothing;
    while (true) {
        clock.tick = disturbed_turn != 0 && turns.size() == disturbed_turn ? disturbed : calm;
        const schedule::Next next = rounds.next(nothing);
        if (const auto* turn = std::get_if<schedule::Turn>(&next)) {
            CHECK(turn->is_compared);
            turns.push_back(std::to_string(turn->cases.front()) + (turn->is_warmup ? " w" : " r") +
                            std::to_string(turn->repetition));
        } else if (const auto* discard = std::get_if<schedule::Discard>(&next)) {
            turns.push_back("again " + std::to_string(discard->repetition));
        } else {
            return turns;
        }
    }
}

}  // namespace

TEST_CASE("a round in which the canary took far longer is taken again", "[unit]")
{
    const model::Plan plan = two_builds(12);
    tests::FakeClock clock;
    clock.tick = calm;
    auto rounds = pairs(plan, clock);
    const std::vector<std::string> turns = turns_of(rounds, clock, 23);
    REQUIRE(turns.size() == 2 + 2 * 12 + 1 + 2);
    CHECK(turns[0] == "0 w0");
    CHECK(turns[1] == "1 w0");
    CHECK(std::vector(turns.begin() + 22, turns.begin() + 27) ==
          std::vector<std::string>{"0 r10", "1 r10", "again 10", "0 r10", "1 r10"});
    CHECK(turns.back() == "1 r11");
    REQUIRE(rounds.warnings().size() == 1);
    CHECK(rounds.warnings().front().code == "rounds-repeated");

    tests::FakeClock quiet;
    quiet.tick = calm;
    auto undisturbed = pairs(plan, quiet);
    CHECK(turns_of(undisturbed, quiet).size() == 2 + 2 * 12);
    CHECK(undisturbed.warnings().empty());
}

TEST_CASE("a budget ends the rounds behind the one that it is spent in", "[unit]")
{
    const model::Plan plan = two_builds(12);
    tests::FakeClock clock;
    clock.tick = calm;
    auto rounds = pairs(plan, clock, {.until_sure = false, .budget = std::chrono::nanoseconds{1}});
    CHECK(turns_of(rounds, clock) == std::vector<std::string>{"0 w0", "1 w0", "0 r0", "1 r0"});
    REQUIRE(rounds.warnings().size() == 1);
    CHECK(rounds.warnings().front().code == "budget-ended");
}
