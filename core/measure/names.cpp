#include "core/measure/names.hpp"

#include <algorithm>
#include <cmath>

namespace memsweep::measure {
namespace {

std::uint64_t distance(std::uint64_t one, std::uint64_t other)
{
    return std::max(one, other) - std::min(one, other);
}

}  // namespace

std::uint64_t names_apart(const CasePair& pair)
{
    if (pair.base == nullptr || pair.candidate == nullptr || !pair.base->names || !pair.candidate->names) {
        return 0;
    }
    const model::NameLengths& base = *pair.base->names;
    const model::NameLengths& candidate = *pair.candidate->names;
    // A workspace that moves makes the first three longer at once.
    const std::uint64_t paths = std::max({distance(base.words, candidate.words), distance(base.paths, candidate.paths),
                                          distance(base.folder, candidate.folder)});
    return paths + distance(base.environment, candidate.environment);
}

Threshold threshold_under_names(const Threshold& threshold, model::Unit unit, double base_median, std::uint64_t apart)
{
    constexpr double bytes_per_character = 320;
    constexpr double characters_of_growth = 16;  // one more may double a buffer
    constexpr double calls = 32;
    constexpr double characters_per_call = 8;
    constexpr double most_calls = 0.009;
    constexpr double fewest_calls = 8;  // in a shell of a hundred calls, 4 to 6 follow its names
    if (apart == 0) {
        return threshold;
    }
    const auto characters = static_cast<double>(apart);
    const double usual = std::min(threshold.relative * std::fabs(base_median), threshold.at_most);
    const double named = unit == model::Unit::bytes
                             ? bytes_per_character * (characters + characters_of_growth)
                             : std::max(fewest_calls, std::min(calls + characters / characters_per_call,
                                                               most_calls * std::fabs(base_median)));
    return {.relative = 0, .absolute = std::floor(std::max({usual, named, threshold.absolute})) + 1};
}

}  // namespace memsweep::measure
