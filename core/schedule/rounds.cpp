#include "core/schedule/rounds.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/rng.hpp"

namespace memsweep::schedule {

std::vector<Group> groups_over(const std::vector<model::Case>& cases, std::string_view axis)
{
    std::vector<Group> groups;
    std::vector<std::vector<model::Param>> shared;
    for (std::size_t index = 0; index < cases.size(); ++index) {
        std::vector<model::Param> others = cases[index].params;
        std::erase_if(others, [axis](const model::Param& param) { return param.name == axis; });
        const auto place = static_cast<std::size_t>(std::ranges::find(shared, others) - shared.begin());
        if (place == groups.size()) {
            groups.emplace_back();
            shared.push_back(std::move(others));
        }
        groups[place].push_back(index);
    }
    return groups;
}

Rounds::Rounds(const model::Plan& plan) : Rounds{plan.settings, model::sweeps(plan.cases), false} {}

Rounds::Rounds(const model::Plan& plan, std::string_view at_once_over)
    : Rounds{plan.settings, groups_over(plan.cases, at_once_over), true}
{
}

Rounds::Rounds(const model::Settings& settings, std::vector<Group> groups, bool at_once)
    : settings_{settings}, groups_{std::move(groups)}, at_once_{at_once}, order_(groups_.size())
{
}

Next Rounds::next(const model::RunReport& /*report*/)
{
    const std::optional<Turn> turn = next_turn();
    return turn ? Next{*turn} : Next{End{}};
}

std::optional<Turn> Rounds::next_turn()
{
    const std::uint64_t rounds = std::uint64_t{settings_.warmup} + settings_.repetitions;
    if (place_ == order_.size() || round_ == rounds) {
        return std::nullopt;
    }
    if (place_ == 0) {
        begin_round();
    }
    const bool is_sequential = settings_.order == model::Order::sequential;
    const bool is_warmup = round_ < settings_.warmup;
    const Turn turn{.cases = groups_[order_[place_]],
                    .repetition = is_warmup ? round_ : round_ - settings_.warmup,
                    .is_warmup = is_warmup,
                    .at_once = at_once_,
                    .first_place = first_place_,
                    .notes_pace = !is_warmup && (is_sequential || place_ == 0)};
    advance();
    ended_round_ = !is_warmup && !is_sequential && place_ == 0;
    return turn;
}

void Rounds::begin_round()
{
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (settings_.order == model::Order::shuffled) {
        const bool is_warmup = round_ < settings_.warmup;
        const std::uint64_t number = is_warmup ? round_ + 1'000'000'007ULL : round_ - settings_.warmup;
        base::Rng random{settings_.seed + number};
        random.shuffle(order_);
        first_place_ = random.below(2);
    }
}

void Rounds::advance()
{
    if (settings_.order == model::Order::sequential) {
        if (++round_ == settings_.warmup + settings_.repetitions) {
            round_ = 0;
            ++place_;
        }
    } else if (++place_ == order_.size()) {
        place_ = 0;
        ++round_;
    }
}

void Rounds::repeat_round()
{
    --round_;
}

}  // namespace memsweep::schedule
