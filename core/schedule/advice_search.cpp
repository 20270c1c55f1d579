#include "core/schedule/advice_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/measure/summary.hpp"

namespace memsweep::schedule {
namespace {

constexpr std::uint32_t standing_runs = 3;
constexpr std::size_t races_between = 8;  // runs of the program as it is: the machine may drift
constexpr std::size_t best_rerun = 4;
constexpr std::size_t reruns_each = 2;
constexpr std::size_t most_doubtful = 2;
constexpr std::size_t most_leaders = 3;
constexpr std::size_t most_pairs = 30;
constexpr double least_noise = 0.03;  // of a run's time, however alike three runs were
constexpr double most_noise = 0.25;
constexpr double alike = 0.02;  // of the default's memory: settings that differ by less gain as much

std::vector<double> values_of(const model::CaseReport& report, const std::string& name)
{
    std::vector<double> values;
    const model::Metric* const metric = model::find_metric(report, name);
    for (const auto& value : metric == nullptr ? std::vector<std::optional<double>>{} : metric->values) {
        if (value) {
            values.push_back(*value);
        }
    }
    return values;
}

double median(std::vector<double> values)
{
    if (values.empty()) {
        return 0;
    }
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double relative_noise(const std::vector<double>& values)
{
    const double middle = median(values);
    double squares = 0;
    for (const double value : values) {
        squares += (value / middle - 1) * (value / middle - 1);
    }
    const double sd = values.size() < 2 ? 0 : std::sqrt(squares / static_cast<double>(values.size() - 1));
    return std::clamp(sd, least_noise, most_noise);
}

}  // namespace

AdviceWay way_of(const AdviceCost& cost)
{
    constexpr std::chrono::seconds dear{10};
    const std::chrono::nanoseconds work = cost.run - std::min(cost.rest, cost.run);
    if (work <= cost.rest) {
        return AdviceWay::race;
    }
    const bool has_room = !cost.budget || static_cast<double>(cost.run.count()) * static_cast<double>(cost.settings) <=
                                              static_cast<double>(cost.budget->count()) / 2;
    return work <= dear && has_room ? AdviceWay::race : AdviceWay::replay;
}

AdviceSearch::AdviceSearch(std::vector<bool> keeps_allocator, AdviceTerms terms, const sys::Clock& clock)
    : keeps_allocator_{std::move(keeps_allocator)}, terms_{std::move(terms)}, clock_{clock}, began_{clock.now()},
      random_{terms_.seed}, options_(keeps_allocator_.size())
{
    for (std::size_t i = 0; i < keeps_allocator_.size(); ++i) {
        groups_.push_back({i});
    }
}

Next AdviceSearch::next(const model::RunReport& report)
{
    settle_turn(report);
    while (phase_ != Phase::over) {
        if (options_.front().drop == AdviceDrop::failed || !has_room(1, 1)) {
            ran_out_ = options_.front().drop != AdviceDrop::failed;
            break;
        }
        if (phase_ == Phase::standing) {
            if (report.cases.front().repetitions < standing_runs) {
                return turn(report, 0);
            }
            phase_ = Phase::racing;
        }
        if (phase_ == Phase::racing) {
            if (const auto racer = next_racer(report)) {
                return turn(report, *racer);
            }
            begin_reruns(report);
        }
        if (phase_ == Phase::rerunning) {
            if (!reruns_.empty()) {
                const std::size_t index = reruns_.back();
                reruns_.pop_back();
                return turn(report, index);
            }
            phase_ = Phase::confirming;
        }
        if (!confirm(report)) {
            break;
        }
        Pair& pair = pairs_.back();
        const bool base_first = !pair.base && (pair.candidate || random_.below(2) == 0);
        const std::size_t index = base_first ? 0 : *leader_;
        (base_first ? pair.base : pair.candidate) = report.cases[index].repetitions;
        return turn(report, index);
    }
    phase_ = Phase::over;
    return End{};
}

// A case whose repetition did not come about runs no more.
void AdviceSearch::settle_turn(const model::RunReport& report)
{
    if (!asked_) {
        return;
    }
    const std::size_t index = *std::exchange(asked_, {});
    const model::CaseReport& one = report.cases[index];
    const bool is_whole = one.repetitions > had_ && one.status == model::Status::ok &&
                          values_of(one, terms_.memory).size() == one.repetitions;
    if (!is_whole) {
        options_[index].drop = AdviceDrop::failed;
    }
    runs_ += one.status == model::Status::skipped ? 0 : 1;
}

Next AdviceSearch::turn(const model::RunReport& report, std::size_t index)
{
    asked_ = index;
    had_ = report.cases[index].repetitions;
    measure::AdviceStage& stage = options_[index].stage;
    stage = std::max(stage, phase_ == Phase::confirming  ? measure::AdviceStage::confirmation
                            : phase_ == Phase::rerunning ? measure::AdviceStage::rerun
                                                         : measure::AdviceStage::race);
    return Turn{.cases = groups_[index], .repetition = had_};
}

// Whether so many runs more, each as long as those before, are within this share of the budget.
bool AdviceSearch::has_room(double runs, double share) const
{
    const double least = std::min<double>(standing_runs + 1, terms_.most_runs);  // one setting is tried at least
    if (runs_ + runs > std::max(terms_.most_runs * share, least)) {
        return false;
    }
    if (!terms_.budget) {
        return true;
    }
    const double spent = sys::seconds_of(clock_.now() - began_);
    const double each = runs_ == 0 ? sys::seconds_of(terms_.usual_run) : spent / runs_;
    const double part = runs_ + runs <= least ? 1 : share;
    return spent + runs * each <= sys::seconds_of(*terms_.budget) * part;
}

// What is kept for reruns and pairs is of use only where there is something to confirm.
double AdviceSearch::share_of_race(const model::RunReport& report) const
{
    AdviceSearch so_far = *this;
    so_far.sieve(report);
    return so_far.contenders(report).empty() ? 1 : terms_.share_of_race;
}

std::optional<std::size_t> AdviceSearch::next_racer(const model::RunReport& report)
{
    if (raced_ + 1 >= options_.size() || raced_ >= terms_.most_raced || !has_room(1, share_of_race(report))) {
        return std::nullopt;
    }
    if (since_standing_ == races_between) {
        since_standing_ = 0;
        return 0;
    }
    ++since_standing_;
    return ++raced_;
}

// One run of each says little of its time: those that are best by memory run again, if that takes no large part of what
// is left.
void AdviceSearch::begin_reruns(const model::RunReport& report)
{
    phase_ = Phase::rerunning;
    sieve(report);
    std::vector<std::size_t> best = contenders(report);
    const std::vector<std::size_t> doubtful = doubtful_ones(report, best);
    best.resize(std::min(best.size(), best_rerun));
    best.insert(best.begin(), doubtful.begin(), doubtful.end());
    if (best.empty() || !has_room(static_cast<double>((best.size() + 1) * reruns_each), 0.75)) {
        return;
    }
    for (const std::size_t i : doubtful) {
        options_[i].drop = AdviceDrop::none;
    }
    for (std::size_t i = 0; i < reruns_each; ++i) {
        reruns_.insert(reruns_.end(), best.begin(), best.end());
        reruns_.push_back(0);
    }
}

// Settings that would be the best by far, but for one run that took too long by no more than noise may do.
std::vector<std::size_t> AdviceSearch::doubtful_ones(const model::RunReport& report,
                                                     const std::vector<std::size_t>& best) const
{
    const auto memory_of = [&](std::size_t i) { return median(values_of(report.cases[i], terms_.memory)); };
    const double least = (best.empty() ? memory_of(0) : memory_of(best.front())) - margin(report);
    const double slowest = slowest_allowed(report) * (1 + most_noise);
    std::vector<std::size_t> found;
    for (std::size_t i = 1; i < options_.size(); ++i) {
        if (options_[i].drop == AdviceDrop::slower && memory_of(i) < least &&
            median(values_of(report.cases[i], terms_.time)) < slowest) {
            found.push_back(i);
        }
    }
    std::ranges::stable_sort(found, {}, memory_of);
    found.resize(std::min(found.size(), most_doubtful));
    return found;
}

// Of one run, noise included.
double AdviceSearch::slowest_allowed(const model::RunReport& report) const
{
    const std::vector<double> times = values_of(report.cases.front(), terms_.time);
    return median(times) * terms_.at_most * (1 + 2 * relative_noise(times));
}

// Settings whose memory differs by less gain as much.
double AdviceSearch::margin(const model::RunReport& report) const
{
    const double memory = median(values_of(report.cases.front(), terms_.memory));
    return std::max(alike * memory, static_cast<double>(terms_.least.bytes));
}

void AdviceSearch::sieve(const model::RunReport& report)
{
    const double memory = median(values_of(report.cases.front(), terms_.memory));
    const double slowest = slowest_allowed(report);
    for (std::size_t i = 1; i < options_.size(); ++i) {
        AdviceOption& option = options_[i];
        if (option.stage == measure::AdviceStage::untried || option.drop != AdviceDrop::none) {
            continue;
        }
        if (median(values_of(report.cases[i], terms_.time)) > slowest) {
            option.drop = AdviceDrop::slower;
        } else if (memory - median(values_of(report.cases[i], terms_.memory)) < terms_.least.of(memory)) {
            option.drop = AdviceDrop::no_gain;
        }
    }
}

// Settings that are still in the race, the least memory first.
std::vector<std::size_t> AdviceSearch::contenders(const model::RunReport& report) const
{
    std::vector<std::size_t> left;
    for (std::size_t i = 1; i < options_.size(); ++i) {
        if (options_[i].stage != measure::AdviceStage::untried && options_[i].drop == AdviceDrop::none) {
            left.push_back(i);
        }
    }
    std::ranges::stable_sort(left, {},
                             [&](std::size_t i) { return median(values_of(report.cases[i], terms_.memory)); });
    return left;
}

std::optional<std::size_t> AdviceSearch::favourite(const model::RunReport& report) const
{
    const std::vector<std::size_t> left = contenders(report);
    if (left.empty()) {
        return std::nullopt;
    }
    const auto memory_of = [&](std::size_t i) { return median(values_of(report.cases[i], terms_.memory)); };
    const double most = memory_of(left.front()) + margin(report);
    const auto rank = [&](std::size_t i) {
        return std::pair{!keeps_allocator_[i], median(values_of(report.cases[i], terms_.time))};
    };
    std::size_t best = left.front();
    for (const std::size_t i : left) {
        if (memory_of(i) <= most && rank(i) < rank(best)) {
            best = i;
        }
    }
    return best;
}

// Sees to it that the last pair has a run to come; false: there is nothing more to find out.
bool AdviceSearch::confirm(const model::RunReport& report)
{
    if (leader_ && options_[*leader_].drop == AdviceDrop::none) {
        if (!pairs_.back().base || !pairs_.back().candidate) {
            return true;
        }
        const measure::Judged gain = measure::judge_gain(pairs(report, terms_.memory), terms_.least);
        const measure::Judged price = measure::judge_price(pairs(report, terms_.time), terms_.at_most);
        if (gain.claim == measure::Claim::refuted || price.claim == measure::Claim::refuted) {
            options_[*leader_].drop =
                price.claim == measure::Claim::refuted ? AdviceDrop::slower : AdviceDrop::unconfirmed;
        } else if (gain.claim == measure::Claim::open ||
                   (price.claim == measure::Claim::open && pairs_.size() < most_pairs)) {
            if (!has_room(2, 1)) {
                ran_out_ = true;
                return false;
            }
            pairs_.emplace_back();
            return true;
        } else {
            return false;
        }
    }
    if (leaders_ == most_leaders) {
        return false;
    }
    sieve(report);
    leader_ = favourite(report);
    ++leaders_;
    pairs_.assign(1, {});
    if (!leader_ || !has_room(2, 1)) {
        ran_out_ = leader_.has_value();
        return false;
    }
    return true;
}

std::vector<measure::PairOfValues> AdviceSearch::pairs(const model::RunReport& report, const std::string& metric) const
{
    std::vector<measure::PairOfValues> whole;
    const std::vector<double> base = values_of(report.cases.front(), metric);
    const std::vector<double> candidate = leader_ ? values_of(report.cases[*leader_], metric) : std::vector<double>{};
    for (const Pair& pair : pairs_) {
        if (pair.base && pair.candidate && *pair.base < base.size() && *pair.candidate < candidate.size()) {
            whole.push_back({base[*pair.base], candidate[*pair.candidate]});
        }
    }
    return whole;
}

AdviceOutcome AdviceSearch::outcome(const model::RunReport& report) const
{
    AdviceOutcome outcome{.options = options_, .runs = runs_, .ran_out = ran_out_};
    outcome.has_default =
        options_.front().drop != AdviceDrop::failed && !report.cases.empty() && report.cases.front().repetitions > 0;
    outcome.raced_all = raced_ + 1 >= options_.size();
    AdviceSearch decided = *this;
    if (outcome.has_default) {
        decided.sieve(report);
    }
    const bool leads = leader_ && options_[*leader_].drop == AdviceDrop::none;
    outcome.best = leads ? leader_ : outcome.has_default ? decided.favourite(report) : std::nullopt;
    if (leads) {
        outcome.gain = measure::judge_gain(pairs(report, terms_.memory), terms_.least);
        outcome.price = measure::judge_price(pairs(report, terms_.time), terms_.at_most);
    }
    outcome.options = decided.options_;
    for (std::size_t i = 1; i < outcome.options.size(); ++i) {
        AdviceOption& option = outcome.options[i];
        if (option.stage != measure::AdviceStage::untried && option.drop == AdviceDrop::none && outcome.best != i) {
            option.drop = AdviceDrop::outrun;
        }
    }
    if (outcome.best) {
        outcome.options[*outcome.best].drop = AdviceDrop::none;
    }
    return outcome;
}

}  // namespace memsweep::schedule
