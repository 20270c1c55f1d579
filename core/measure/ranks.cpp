#include "core/measure/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace memsweep::measure {
namespace {

std::vector<std::size_t> ascending_order(std::span<const double> values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t index) { return values[index]; });
    return order;
}

std::size_t end_of_tie(std::span<const double> values, std::span<const std::size_t> order, std::size_t first)
{
    std::size_t end = first + 1;
    while (end < order.size() && values[order[end]] <= values[order[first]]) {
        ++end;
    }
    return end;
}

}  // namespace

Ranks ranks_of(std::span<const double> values)
{
    const std::vector<std::size_t> order = ascending_order(values);
    Ranks ranks{std::vector<double>(values.size()), 0};
    for (std::size_t first = 0; first < order.size();) {
        const std::size_t end = end_of_tie(values, order, first);
        for (std::size_t at = first; at < end; ++at) {
            ranks.rank[order[at]] = static_cast<double>(first + 1 + end) / 2;
        }
        const auto tied = static_cast<double>(end - first);
        ranks.tie_term += tied * tied * tied - tied;
        first = end;
    }
    return ranks;
}

std::optional<double> spearman_with_order(std::span<const double> values)
{
    const Ranks ranks = ranks_of(values);
    const double mean = (static_cast<double>(values.size()) + 1) / 2;
    double products = 0;
    double order_squares = 0;
    double rank_squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double order = static_cast<double>(i + 1) - mean;
        const double rank = ranks.rank[i] - mean;
        products += order * rank;
        order_squares += order * order;
        rank_squares += rank * rank;
    }
    return rank_squares > 0 ? std::optional{products / std::sqrt(order_squares * rank_squares)} : std::nullopt;
}

}  // namespace memsweep::measure
