// The search for the setting under which a program needs the least memory without running longer than allowed.
//
// The first case is the program as it is. The others are settings, the most promising first. The program as it is runs
// three times. Then the settings race: each runs once, until half of the budget is spent, or as many have run as were
// asked for. While no setting gains anything, the race has the whole budget. The best few then run twice more, if that
// ends within three quarters of the budget. Settings that are slower than allowed, beyond the noise, are dropped; the
// rest are ranked by memory. The best one then runs in pairs with the program as it is, in random order. The pairs go
// on until its gain is proven and its price is known, or the budget ends. If they refute it, the next best takes its
// place.
//
// If two settings gain about as much, one that keeps the program's allocator beats one that replaces it.
//
// Units    bytes, seconds.
// Threads  one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.hpp"
#include "core/measure/advice.hpp"
#include "core/schedule/schedule.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::schedule {

// How settings are told apart: by real runs of them all, or by replays of a recording, and real runs of the best.
enum class AdviceWay : std::uint8_t { race, replay };

struct AdviceCost {
    std::chrono::nanoseconds run{};   // of the program
    std::chrono::nanoseconds rest{};  // of that, the idle time that was asked for (rss@idle): a replay waits as long
    std::size_t settings{};
    std::optional<std::chrono::nanoseconds> budget;
};

// Real runs are dear if a run works for more than some 10 s, or if all settings would take more than half of the
// budget. Below that, a replay gains nothing. A replay gains nothing either if half of a run or more is `rest`.
[[nodiscard]] AdviceWay way_of(const AdviceCost& cost);

// The number of real runs if settings are replayed: one look at the program, one recording, three runs of the unchanged
// program, one run of each of the best settings, and three pairs.
inline constexpr std::uint32_t runs_beside_replays = 15;
inline constexpr std::size_t raced_beside_replays = 4;

struct AdviceTerms {
    std::string memory;  // metrics
    std::string time;
    double at_most{1.05};  // how much longer the program may take, as a ratio
    measure::LeastGain least;
    std::optional<std::chrono::nanoseconds> budget;
    std::chrono::nanoseconds usual_run{};  // before any has run
    std::uint32_t most_runs{110};
    std::size_t most_raced{SIZE_MAX};
    double share_of_race{0.5};  // of the budget
    std::uint64_t seed{1};
};

// Why a setting is not the advice.
enum class AdviceDrop : std::uint8_t {
    none,
    failed,       // the report says how
    slower,       // it takes longer than is allowed
    no_gain,      // its gain is not worth having
    unconfirmed,  // it looked better in the race than in pairs
    outrun,       // another one gains more, or about as much and is preferred
};

struct AdviceOption {
    measure::AdviceStage stage{};
    AdviceDrop drop{};
};

struct AdviceOutcome {
    std::optional<std::size_t> best;  // a case; empty: nothing gains
    measure::Judged gain;
    measure::Judged price;
    std::vector<AdviceOption> options;  // by case; the first is the program as it is
    std::uint32_t runs{};
    bool has_default{};  // the program as it is could be measured at all
    bool ran_out{};      // the budget ended the search
    bool raced_all{};    // every setting had its turn before the budget ended
};

class AdviceSearch final : public Schedule {
  public:
    // `keeps_allocator`: for each case, whether it keeps the program's own allocator.
    AdviceSearch(std::vector<bool> keeps_allocator, AdviceTerms terms, const sys::Clock& clock);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    // The advice after the runs so far. May be called at any time.
    [[nodiscard]] AdviceOutcome outcome(const model::RunReport& report) const;

    [[nodiscard]] const AdviceTerms& terms() const { return terms_; }

  private:
    enum class Phase : std::uint8_t { standing, racing, rerunning, confirming, over };

    void settle_turn(const model::RunReport& report);
    [[nodiscard]] Next turn(const model::RunReport& report, std::size_t index);
    [[nodiscard]] bool has_room(double runs, double share) const;
    [[nodiscard]] std::optional<std::size_t> next_racer(const model::RunReport& report);
    [[nodiscard]] double share_of_race(const model::RunReport& report) const;
    void begin_reruns(const model::RunReport& report);
    [[nodiscard]] std::vector<std::size_t> doubtful_ones(const model::RunReport& report,
                                                         const std::vector<std::size_t>& best) const;
    [[nodiscard]] double slowest_allowed(const model::RunReport& report) const;
    [[nodiscard]] double margin(const model::RunReport& report) const;
    void sieve(const model::RunReport& report);
    [[nodiscard]] std::vector<std::size_t> contenders(const model::RunReport& report) const;
    [[nodiscard]] std::optional<std::size_t> favourite(const model::RunReport& report) const;
    [[nodiscard]] bool confirm(const model::RunReport& report);
    [[nodiscard]] std::vector<measure::PairOfValues> pairs(const model::RunReport& report,
                                                           const std::string& metric) const;

    std::vector<Group> groups_;
    std::vector<bool> keeps_allocator_;
    AdviceTerms terms_;
    const sys::Clock& clock_;
    std::chrono::nanoseconds began_;
    base::Rng random_;
    Phase phase_{};
    std::vector<AdviceOption> options_;
    std::uint32_t runs_{};
    bool ran_out_{};
    std::size_t raced_{};               // cases up to this one have had their turn in the race
    std::size_t since_standing_{};      // races since the last run of the unchanged program
    std::vector<std::size_t> reruns_;   // the last comes first
    std::optional<std::size_t> asked_;  // the case whose turn it was
    std::uint32_t had_{};               // the repetitions of that case before its turn
    std::optional<std::size_t> leader_;
    std::size_t leaders_{};  // leaders so far, this one included
    struct Pair {
        std::optional<std::uint32_t> base;  // repetitions
        std::optional<std::uint32_t> candidate;
    };
    std::vector<Pair> pairs_;  // of the leader
};

}  // namespace memsweep::schedule
