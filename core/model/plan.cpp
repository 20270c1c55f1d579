#include "core/model/plan.hpp"

#include <algorithm>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"

namespace memsweep::model {

namespace {

std::string mode_text(const Case& one)
{
    const auto found = std::ranges::find(one.params, "mode", &Param::name);
    return found == one.params.end() ? std::string{} : to_text(found->value);
}

bool share_worker(const Case& a, const Case& b)
{
    return a.placement != Placement::alone && a.placement == b.placement && a.memory == b.memory &&
           a.release == b.release && a.allocator == b.allocator && mode_text(a) == mode_text(b);
}

}  // namespace

std::vector<std::vector<std::size_t>> sweeps(const std::vector<Case>& cases)
{
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t index = 0; index < cases.size(); ++index) {
        const auto group = std::ranges::find_if(
            groups, [&](const auto& one) { return share_worker(cases[one.front()], cases[index]); });
        if (group == groups.end()) {
            groups.push_back({index});
        } else {
            group->push_back(index);
        }
    }
    return groups;
}

namespace {

template <typename CountOfStep>
std::uint64_t count_over(const std::vector<Step>& steps, const CountOfStep& count_of)
{
    std::uint64_t total = 0;
    for (const Step& step : steps) {
        if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            total = base::saturating_add(total, base::saturating_mul(inner.times, count_over(*inner.steps, count_of)));
        } else {
            total = base::saturating_add(total, count_of(step));
        }
    }
    return total;
}

void add_trims(const std::vector<Step>& steps, std::vector<TrimHow>& found)
{
    for (const Step& step : steps) {
        if (const auto* trim = std::get_if<TrimStep>(&step.operation)) {
            if (trim->how != TrimHow::none && std::ranges::find(found, trim->how) == found.end()) {
                found.push_back(trim->how);
            }
        } else if (const Nested inner = nested(step.operation); inner.steps != nullptr) {
            add_trims(*inner.steps, found);
        }
    }
}

}  // namespace

std::vector<TrimHow> trims(const Case& plan_case)
{
    std::vector<TrimHow> found;
    if (plan_case.memory.trim.above_bytes != 0 && plan_case.memory.trim.how != TrimHow::none) {
        found.push_back(plan_case.memory.trim.how);
    }
    add_trims(plan_case.steps, found);
    return found;
}

std::uint64_t allocation_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        if (const auto* concat = std::get_if<ConcatStep>(&step.operation)) {
            const std::uint64_t results = concat->what->out ? 1 : concat->warmup + concat->calls;
            return 2 * concat->what->count + results;  // two per input at most: the one that a copy was made of
        }
        const auto* alloc = std::get_if<AllocStep>(&step.operation);
        const auto* view = std::get_if<ViewStep>(&step.operation);
        const bool makes_one = std::holds_alternative<BinaryStep>(step.operation) || (view != nullptr && view->copy);
        return alloc != nullptr ? alloc->count : (makes_one ? 1 : 0);
    });
}

std::uint64_t timed_call_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        const auto* concat = std::get_if<ConcatStep>(&step.operation);
        return concat != nullptr ? concat->calls : 0;
    });
}

std::uint64_t sample_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        return std::holds_alternative<SampleStep>(step.operation) ? 1 : 0;
    });
}

}  // namespace memsweep::model
