#include "core/measure/multiple_testing.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
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

std::vector<double> benjamini_bogomolov(std::span<const GroupedP> smallest, std::span<const std::size_t> tests,
                                        double level)
{
    std::map<std::size_t, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < smallest.size(); ++i) {
        groups[smallest[i].group].push_back(i);
    }
    std::vector<double> adjusted(smallest.size());
    std::vector<double> of_groups;
    for (const auto& [group, members] : groups) {
        std::vector<double> p;
        for (const std::size_t member : members) {
            p.push_back(smallest[member].p);
        }
        const std::vector<double> q = benjamini_hochberg(p, tests[group]);
        for (std::size_t i = 0; i < members.size(); ++i) {
            adjusted[members[i]] = q[i];
        }
        of_groups.push_back(std::ranges::min(q));
    }
    const auto tested = tests.size() - static_cast<std::size_t>(std::ranges::count(tests, std::size_t{0}));
    const std::vector<double> q = benjamini_hochberg(of_groups, tested);
    const auto selected = std::ranges::count_if(q, [&](double one) { return one <= level; });
    const double factor = static_cast<double>(tested) / static_cast<double>(std::max<std::ptrdiff_t>(selected, 1));
    for (double& one : adjusted) {
        one = std::min(1.0, one * factor);
    }
    return adjusted;
}

}  // namespace memsweep::measure
