#include "reporters/text/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace memsweep::reporters {
namespace {

// The lowest and the highest of values[first, last), in the order in which they come.
void append_extremes(std::span<const double> values, std::size_t first, std::size_t last,
                     std::vector<std::size_t>& kept)
{
    std::size_t low = last;
    std::size_t high = last;
    for (std::size_t i = first; i < last; ++i) {
        if (std::isfinite(values[i])) {
            low = low == last || values[i] < values[low] ? i : low;
            high = high == last || values[i] > values[high] ? i : high;
        }
    }
    if (low != last) {
        kept.push_back(std::min(low, high));
    }
    if (low != high) {
        kept.push_back(std::max(low, high));
    }
}

}  // namespace

std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit)
{
    std::vector<std::size_t> kept;
    if (values.size() <= limit) {
        kept.resize(values.size());
        std::iota(kept.begin(), kept.end(), std::size_t{0});
        return kept;
    }
    const std::size_t inner = values.size() - 2;
    const std::size_t stretches = limit / 2 - 1;
    kept.push_back(0);
    for (std::size_t i = 0; i < stretches; ++i) {
        append_extremes(values, 1 + inner * i / stretches, 1 + inner * (i + 1) / stretches, kept);
    }
    kept.push_back(values.size() - 1);
    return kept;
}

}  // namespace memsweep::reporters
