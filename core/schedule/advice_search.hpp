// The search for the setting under which a program needs the least memory without running longer than allowed.
//
// The first case is the unchanged program. All other cases are the program under a setting, the most promising setting
// first. The search has four steps:
//
//   standing    The unchanged program runs three times.
//   racing      Each setting runs one time, until half of the budget is spent or `most_raced` settings have run. As
//               long as no setting saves memory, the race may take the whole budget.
//   rerunning   The best few settings run twice more, if that ends within three quarters of the budget. Settings that
//               are slower than allowed, even after a margin for noise, are dropped. The remaining settings are ranked
//               by memory.
//   confirming  The best setting runs in pairs with the unchanged program; the order within a pair is random. The pairs
//               go on until the setting's saving is proven and its slow-down is known, or until the budget ends. If the
//               pairs refute the saving, the next best setting is confirmed.
//
// If two settings save about the same memory, a setting that keeps the program's allocator is preferred to one that
// replaces it.
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

// How settings are compared. race: the program runs under each setting; replay: a recording of it is replayed under
// each setting, and the program runs only under the best.
enum class AdviceWay : std::uint8_t { race, replay };

struct AdviceCost {
    std::chrono::nanoseconds run{};   // one run of the program
    std::chrono::nanoseconds rest{};  // the part of a run that waits to measure rss@idle; a replay waits just as long
    std::size_t settings{};
    std::optional<std::chrono::nanoseconds> budget;
};

// Chooses replay if real runs are expensive: a run works for more than 10 s (`run` without `rest`), or the runs of all
// settings, one for each, would take more than half of the budget. Chooses race otherwise, and always if `rest` is at
// least half of `run`, because replays would then save nothing.
[[nodiscard]] AdviceWay way_of(const AdviceCost& cost);

// The number of real runs if settings are replayed: a first run of the program, a recording, three runs of the
// unchanged program, one run of each of the `raced_beside_replays` best settings, and three pairs.
inline constexpr std::uint32_t runs_beside_replays = 15;
inline constexpr std::size_t raced_beside_replays = 4;

struct AdviceTerms {
    std::string memory;    // the metric to reduce
    std::string time;      // the metric that may grow by `at_most`
    double at_most{1.05};  // largest allowed time, divided by the time of the unchanged program
    measure::LeastGain least;
    std::optional<std::chrono::nanoseconds> budget;
    std::chrono::nanoseconds usual_run{};  // estimated time of a run, used until a run has been measured
    std::uint32_t most_runs{110};
    std::size_t most_raced{SIZE_MAX};
    double share_of_race{0.5};  // the part of the budget that the race may spend
    std::uint64_t seed{1};
};

// Why a setting is not the advice. `none`: nothing excludes it.
enum class AdviceDrop : std::uint8_t {
    none,
    failed,       // a run failed; the report has the reason
    slower,       // it takes longer than allowed
    no_gain,      // it saves less than AdviceTerms::least
    unconfirmed,  // it saved memory in the race, but not in the pairs
    outrun,       // another setting saves more, or saves about as much and is preferred
};

struct AdviceOption {
    measure::AdviceStage stage{};
    AdviceDrop drop{};
};

struct AdviceOutcome {
    std::optional<std::size_t> best;    // the index of the advised case; absent: no setting saves memory
    measure::Judged gain;               // the memory saved by `best`
    measure::Judged price;              // the time added by `best`
    std::vector<AdviceOption> options;  // by case; the first is the unchanged program
    std::uint32_t runs{};
    bool has_default{};  // true: the unchanged program could be measured
    bool ran_out{};      // true: the search ended because the budget was spent
    bool raced_all{};    // true: every setting had its turn in the race
};

class AdviceSearch final : public Schedule {
  public:
    // `keeps_allocator`: whether each case keeps the program's own allocator.
    AdviceSearch(std::vector<bool> keeps_allocator, AdviceTerms terms, const sys::Clock& clock);

    [[nodiscard]] Next next(const model::RunReport& report) override;

    // Returns the advice after the runs so far. May be called at any time.
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
    std::size_t raced_{};                // the last case that has had its turn in the race
    std::size_t since_standing_{};       // turns of the race since the last run of the unchanged program
    std::vector<std::size_t> reruns_;    // a stack: the case at the back runs next
    std::optional<std::size_t> asked_;   // the case of the last turn
    std::uint32_t had_{};                // how many repetitions case `asked_` had before its turn
    std::optional<std::size_t> leader_;  // the setting that is being confirmed
    std::size_t leaders_{};              // the number of leaders so far, including the present one
    struct Pair {
        std::optional<std::uint32_t> base;       // number of the repetition of the unchanged program
        std::optional<std::uint32_t> candidate;  // number of the repetition of the leader
    };
    std::vector<Pair> pairs_;  // the pairs of the present leader
};

}  // namespace memsweep::schedule
