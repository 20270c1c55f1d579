#include "app/commands/build_rounds.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/rng.hpp"
#include "core/measure/format.hpp"
#include "core/measure/paired_comparison.hpp"
#include "core/sys/clock.hpp"
#include "scenarios/reader/command_plans.hpp"

namespace memsweep::app {
namespace {

// Work that is of the processor and of its nearest caches, some 2 ms of it.
std::uint64_t canary_work()
{
    constexpr int passes = 64;
    static std::array<std::uint64_t, 16'384> words{};
    base::Rng random{1};
    for (int pass = 0; pass < passes; ++pass) {
        for (std::uint64_t& word : words) {
            word ^= random.next();
        }
    }
    return words[random.below(words.size())];
}

model::RatioOf family(std::string_view build)
{
    return {std::string{scenarios::build_axis}, std::string{build}};
}

}  // namespace

base::Expected<measure::Comparison> compare_builds(const model::RunReport& report, const measure::Criteria& criteria)
{
    return measure::compare_rounds(report, family(scenarios::base_build), family(scenarios::candidate_build), criteria);
}

BuildRounds::BuildRounds(const sys::Clock& clock, const measure::Criteria& criteria, Limits limits)
    : clock_{clock}, criteria_{criteria}, limits_{limits}, began_{clock.now()}, round_began_{began_}
{
    time_canary();  // the first one finds its memory untouched
    canary_times_.clear();
}

void BuildRounds::time_canary()
{
    const std::chrono::nanoseconds begin = clock_.now();
    canary_sum_ += canary_work();
    canary_times_.push_back(sys::seconds_of(clock_.now() - begin));
}

void BuildRounds::before_turn()
{
    if (canary_times_.empty()) {
        round_began_ = clock_.now();
    }
    time_canary();
}

bool BuildRounds::is_over_budget(std::chrono::nanoseconds round) const
{
    return limits_.budget && clock_.now() - began_ + round > *limits_.budget;
}

engine::RoundEnd BuildRounds::round_ended(const model::RunReport& report)
{
    time_canary();
    const std::vector<double> times = std::exchange(canary_times_, {});
    ran_out_ = is_over_budget(clock_.now() - round_began_);
    if (ran_out_) {
        return engine::RoundEnd::last;
    }
    if (auto why = canary_.why_repeat(times)) {
        last_repeat_ = *std::move(why);
        return engine::RoundEnd::repeated;
    }
    if (!limits_.until_sure) {
        return engine::RoundEnd::goes_on;
    }
    const auto comparison = compare_builds(report, criteria_);
    return comparison && !measure::is_settled(*comparison) ? engine::RoundEnd::goes_on : engine::RoundEnd::last;
}

std::vector<model::Warning> BuildRounds::warnings() const
{
    std::vector<model::Warning> warnings;
    if (canary_.repeats() > 0) {
        warnings.push_back(
            {"rounds-repeated",
             fmt::format("{} measured again, because the machine was not itself; the last time {}",
                         canary_.repeats() == 1 ? "1 round was" : fmt::format("{} rounds were", canary_.repeats()),
                         last_repeat_),
             "verdicts rest on the rounds that were kept"});
    }
    if (ran_out_) {
        warnings.push_back({"budget-ended",
                            fmt::format("the budget of {} ended the rounds before every verdict was sure",
                                        base::format_duration(sys::seconds_of(*limits_.budget))),
                            "allow more with --budget"});
    }
    return warnings;
}

}  // namespace memsweep::app
