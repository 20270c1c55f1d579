#include "core/schedule/paired_rounds.hpp"

#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/base/rng.hpp"
#include "core/measure/format.hpp"
#include "core/measure/paired_comparison.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::schedule {
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

}  // namespace

PairedRounds::PairedRounds(Rounds rounds, Pair pair, Limits limits, const sys::Clock& clock)
    : rounds_{std::move(rounds)}, pair_{std::move(pair)}, limits_{limits}, clock_{clock}, began_{clock.now()},
      round_began_{began_}
{
    time_canary();  // the first one finds its memory untouched
    canary_times_.clear();
}

Next PairedRounds::next(const model::RunReport& report)
{
    if (const auto number = std::exchange(ended_round_, {})) {
        const Verdict verdict = judge_round(report);
        if (verdict == Verdict::repeated) {
            rounds_.repeat_round();
            return Discard{*number};
        }
        if (verdict == Verdict::last) {
            return End{};
        }
    }
    std::optional<Turn> turn = rounds_.next_turn();
    if (!turn) {
        return End{};
    }
    if (canary_times_.empty()) {
        round_began_ = clock_.now();
    }
    time_canary();
    turn->is_compared = true;
    if (rounds_.has_ended_round()) {
        ended_round_ = turn->repetition;
    }
    return *turn;
}

void PairedRounds::time_canary()
{
    const std::chrono::nanoseconds begin = clock_.now();
    canary_sum_ += canary_work();
    canary_times_.push_back(sys::seconds_of(clock_.now() - begin));
}

PairedRounds::Verdict PairedRounds::judge_round(const model::RunReport& report)
{
    time_canary();
    const std::vector<double> times = std::exchange(canary_times_, {});
    const std::chrono::nanoseconds now = clock_.now();
    ran_out_ = limits_.budget && now - began_ + (now - round_began_) > *limits_.budget;
    if (ran_out_) {
        return Verdict::last;
    }
    if (auto why = canary_.why_repeat(times)) {
        last_repeat_ = *std::move(why);
        return Verdict::repeated;
    }
    if (!limits_.until_sure) {
        return Verdict::goes_on;
    }
    const auto comparison = measure::compare_rounds(report, pair_.base, pair_.candidate, pair_.criteria);
    return comparison && !measure::is_settled(*comparison) ? Verdict::goes_on : Verdict::last;
}

std::vector<model::Warning> PairedRounds::warnings() const
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

}  // namespace memsweep::schedule
