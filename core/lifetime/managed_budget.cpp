#include "core/lifetime/managed_budget.hpp"

#include <algorithm>
#include <utility>

namespace memsweep::lifetime {
namespace {

bool is_large(const model::ManagedBudget& budget)
{
    return budget.large_from != 0 && budget.garbage >= budget.large_from;
}

// What an array takes of the young generation; where objects do not cross regions, at least its share of one.
std::uint64_t young_bytes(const model::ManagedBudget& budget)
{
    if (budget.garbage == 0 || is_large(budget)) {
        return budget.bytes_per_array;
    }
    const std::uint64_t object = budget.garbage + budget.header;
    const std::uint64_t per_region = budget.region / object;
    const std::uint64_t share = per_region == 0 ? 0 : budget.region / per_region;
    return std::max(budget.bytes_per_array + object, share);
}

}  // namespace

ManagedBudgetTrigger::ManagedBudgetTrigger(const model::ManagedBudget& budget) noexcept
    : budget_{budget}, young_per_array_{young_bytes(budget)},
      large_per_array_{is_large(budget) ? budget.garbage + budget.header : 0},
      wasted_{budget.tlab != 0 && budget.garbage > budget.tlab ? budget.tlab : 0}, young_{budget.used_at_start}
{
}

std::uint64_t ManagedBudgetTrigger::young_limit() const noexcept
{
    std::uint64_t limit = budget_.steady;
    if (collections_ == 0 && budget_.first != 0) {
        limit = budget_.first;
    } else if (collections_ == 1 && budget_.second != 0) {
        limit = budget_.second;
    }
    return limit - std::min(limit, wasted_);
}

Due ManagedBudgetTrigger::before_allocate(std::uint64_t /*bytes*/, std::int64_t /*now_ns*/) noexcept
{
    young_ += young_per_array_;
    young_asked_ = budget_.steady != 0 && young_ > young_limit();
    const bool large_asked = budget_.large != 0 && large_ > budget_.large;
    large_ += large_per_array_;
    return young_asked_ || large_asked ? Due::now : Due::no;
}

// What did not fit the young generation is the first of the emptied one. The large object that a collection came
// before is not counted.
void ManagedBudgetTrigger::collected(const Collection& /*collection*/) noexcept
{
    const bool asked = std::exchange(young_asked_, false);
    collections_ += asked ? 1 : 0;
    young_ = asked ? young_per_array_ : 0;
    if (!asked) {
        large_ = 0;
    }
}

}  // namespace memsweep::lifetime
