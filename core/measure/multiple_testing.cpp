#include "core/measure/multiple_testing.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace memsweep::measure {

std::vector<double> benjamini_hochberg(std::span<const double> p)
{
    return benjamini_hochberg(p, p.size());
}

std::vector<double> benjamini_hochberg(std::span<const double> p, std::size_t family)
{
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t index) { return p[index]; });
    std::vector<double> q(p.size());
    double least = 1;
    for (std::size_t place = p.size(); place > 0; --place) {
        const std::size_t index = order[place - 1];
        least = std::min(least, p[index] * static_cast<double>(family) / static_cast<double>(place));
        q[index] = least;
    }
    return q;
}

}  // namespace memsweep::measure
