#include "core/measure/canary.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

// Before so many times are known, nothing is known of its noise.
constexpr std::size_t least_known = 6;

// Off: further from the median than what normal noise of the scatter seen exceeds once in 10,000 times, and by no less
// than what no program would notice.
constexpr double deviations = 4;
constexpr double unnoticed = 0.03;

double allowed_around(double middle, std::span<const double> normal)
{
    return std::max(deviations * normal_deviations * median_absolute_deviation(normal), unnoticed * middle);
}

}  // namespace

bool CanaryRule::may_repeat() const
{
    const auto in_all = std::ceil(limits_.repeats_per_round * static_cast<double>(rounds_ + 1));
    return repeats_here_ < limits_.repeats_of_round && static_cast<double>(repeats_) < in_all;
}

std::optional<std::string> CanaryRule::why_repeat(std::span<const double> canary)
{
    MEMSWEEP_ASSERT(!canary.empty(), "a round is judged by its canary");
    if (normal_.size() >= least_known && may_repeat()) {
        const double middle = median(normal_);
        const double allowed = allowed_around(middle, normal_);
        const auto distance = [middle](double time) { return std::fabs(time - middle); };
        const double worst = *std::ranges::max_element(canary, {}, distance);
        if (distance(worst) > allowed) {
            ++repeats_;
            ++repeats_here_;
            return fmt::format("the canary took {} instead of {} +- {}", format_value(model::Unit::seconds, worst),
                               format_value(model::Unit::seconds, middle), format_value(model::Unit::seconds, allowed));
        }
    }
    normal_.insert(normal_.end(), canary.begin(), canary.end());
    ++rounds_;
    repeats_here_ = 0;
    return std::nullopt;
}

}  // namespace memsweep::measure
