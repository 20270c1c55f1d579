#include "core/measure/leak_growth.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "core/base/assert.hpp"

namespace memsweep::measure {
namespace {

struct HeldRange {
    std::uint64_t least{};
    std::uint64_t most{};

    [[nodiscard]] double middle() const noexcept
    {
        return static_cast<double>(least) + static_cast<double>(most - least) / 2;
    }
};

struct HeldStep {
    std::uint64_t operations{};
    HeldRange bytes;
    HeldRange blocks;
};

HeldRange range_of(std::span<const HeldAfter> runs, std::uint64_t HeldAfter::*held)
{
    const auto [least, most] = std::ranges::minmax(runs, {}, held);
    return {least.*held, most.*held};
}

std::vector<HeldStep> held_steps_of(std::span<const HeldAfter> runs)
{
    std::map<std::uint64_t, std::vector<HeldAfter>> by_operations;
    for (const HeldAfter& run : runs) {
        by_operations[run.operations].push_back(run);
    }
    std::vector<HeldStep> steps;
    for (const auto& [operations, same] : by_operations) {
        steps.push_back({operations, range_of(same, &HeldAfter::bytes), range_of(same, &HeldAfter::blocks)});
    }
    return steps;
}

double rate(const HeldStep& from, const HeldStep& to, HeldRange HeldStep::*held)
{
    return ((to.*held).middle() - (from.*held).middle()) / static_cast<double>(to.operations - from.operations);
}

// Whether both changes, over as many operations as they took, are the same.
bool is_same_rate(const HeldStep& first, const HeldStep& middle, const HeldStep& last, HeldRange HeldStep::*held)
{
    const auto change = [held](const HeldStep& from, const HeldStep& to) {
        return static_cast<std::int64_t>((to.*held).least) - static_cast<std::int64_t>((from.*held).least);
    };
    const auto operations = [](const HeldStep& from, const HeldStep& to) {
        return static_cast<std::int64_t>(to.operations - from.operations);
    };
    return change(first, middle) * operations(middle, last) == change(middle, last) * operations(first, middle);
}

std::uint64_t digits_of(std::uint64_t number)
{
    std::uint64_t digits = 1;
    for (; number >= 10; number /= 10) {
        ++digits;
    }
    return digits;
}

bool leaves_more(const HeldStep& from, const HeldStep& to)
{
    const std::uint64_t longer = digits_of(to.operations) - digits_of(from.operations);
    return to.blocks.least > from.blocks.most || to.bytes.least > from.bytes.most + longer * to.blocks.most;
}

}  // namespace

GrowthPerOperation growth_of(std::span<const HeldAfter> runs)
{
    const std::vector<HeldStep> steps = held_steps_of(runs);
    MEMSWEEP_ASSERT(steps.size() >= 2, "one number of operations tells nothing of one operation");
    std::size_t growing = 0;  // steps, from the last one back
    while (growing + 1 < steps.size() &&
           leaves_more(steps[steps.size() - 2 - growing], steps[steps.size() - 1 - growing])) {
        ++growing;
    }
    GrowthPerOperation result;
    result.growth = growing == 0 ? Growth::none : growing + 1 == steps.size() ? Growth::steady : Growth::late;
    for (std::size_t i = 1; growing == 0 && i < steps.size(); ++i) {
        if (leaves_more(steps[i - 1], steps[i])) {
            result.grew_from = steps[i - 1].operations;
            result.grew_until = steps[i].operations;
        }
    }
    result.bytes = rate(steps.front(), steps.back(), &HeldStep::bytes);
    result.blocks = rate(steps.front(), steps.back(), &HeldStep::blocks);
    result.varies = std::ranges::any_of(steps, [](const HeldStep& step) {
        return step.bytes.least != step.bytes.most || step.blocks.least != step.blocks.most;
    });
    result.is_exact = !result.varies;
    for (std::size_t i = 2; i < steps.size() && result.is_exact; ++i) {
        result.is_exact = is_same_rate(steps[i - 2], steps[i - 1], steps[i], &HeldStep::bytes) &&
                          is_same_rate(steps[i - 2], steps[i - 1], steps[i], &HeldStep::blocks);
    }
    return result;
}

}  // namespace memsweep::measure
