#include "core/model/plan.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/checked.hpp"

namespace memsweep::model {

template <>
std::span<const Named<Order>> names<Order>()
{
    static constexpr std::array<Named<Order>, 3> table{{
        {Order::interleaved, "interleaved", "repetitions go round-robin over the cases, so that drift hits all alike"},
        {Order::sequential, "sequential", "all repetitions of a case, then the next case"},
        {Order::shuffled, "shuffled", "round-robin, each round in a seeded random order"},
    }};
    return table;
}

template <>
std::span<const Named<Isolation>> names<Isolation>()
{
    static constexpr std::array<Named<Isolation>, 2> table{{
        {Isolation::process, "process", "a fresh worker process per repetition"},
        {Isolation::none, "none", "everything in one worker process: cases contaminate each other"},
    }};
    return table;
}

std::optional<std::vector<std::vector<Param>>>
expand(const std::vector<Axis>& axes, const std::vector<std::vector<Param>>& exclusions, std::size_t limit)
{
    std::uint64_t total = 1;
    for (const Axis& axis : axes) {
        total = base::saturating_mul(total, axis.values.size());
    }
    if (total > limit) {
        return std::nullopt;
    }
    std::vector<std::vector<Param>> combinations;
    for (std::uint64_t index = 0; index < total; ++index) {
        std::vector<Param> params(axes.size());
        std::uint64_t rest = index;
        for (std::size_t i = axes.size(); i-- > 0;) {
            params[i] = Param{axes[i].name, axes[i].values[rest % axes[i].values.size()]};
            rest /= axes[i].values.size();
        }
        std::ranges::sort(params, {}, &Param::name);
        const bool excluded = std::ranges::any_of(
            exclusions, [&](const std::vector<Param>& pattern) { return matches(params, pattern); });
        if (!excluded) {
            combinations.push_back(std::move(params));
        }
    }
    return combinations;
}

std::string case_id(const std::string& scenario, const std::vector<Param>& sorted_params)
{
    std::string id = scenario;
    for (const Param& param : sorted_params) {
        id += fmt::format("/{}={}", param.name, to_text(param.value));
    }
    return id;
}

bool matches(const std::vector<Param>& params, const std::vector<Param>& pattern)
{
    return std::ranges::all_of(pattern, [&](const Param& wanted) {
        return std::ranges::any_of(params, [&](const Param& param) {
            return param.name == wanted.name && to_text(param.value) == to_text(wanted.value);
        });
    });
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

}  // namespace

std::uint64_t allocation_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        const auto* alloc = std::get_if<AllocStep>(&step.operation);
        return alloc != nullptr ? alloc->count : (std::holds_alternative<BinaryStep>(step.operation) ? 1 : 0);
    });
}

std::uint64_t sample_count(const std::vector<Step>& steps)
{
    return count_over(steps, [](const Step& step) -> std::uint64_t {
        return std::holds_alternative<SampleStep>(step.operation) ? 1 : 0;
    });
}

}  // namespace memsweep::model
