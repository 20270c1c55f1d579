#include "core/measure/change_points.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/measure/statistics.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

// The whole, then lengths halved, each moved on by half of itself.
std::vector<Range> seeded_intervals(std::size_t count)
{
    std::vector<Range> intervals;
    std::size_t pieces = 1;
    for (std::size_t length = count; length >= 2 * min_segment; length = (length + 1) / 2) {
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            const std::size_t first = pieces == 1 ? 0 : piece * (count - length) / (pieces - 1);
            intervals.emplace_back(first, first + length);
        }
        pieces = 2 * pieces + 1;
    }
    return intervals;
}

double distance_from_median(std::span<const double> values)
{
    const double middle = median({values.begin(), values.end()});
    return std::accumulate(values.begin(), values.end(), 0.0,
                           [&](double sum, double value) { return sum + std::fabs(value - middle); });
}

// Where two levels fit best. Ranks say whether there is a cut, but prefer the more even of two neighbouring places.
std::size_t closest_cut(std::span<const double> values)
{
    std::size_t best = min_segment;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t at = min_segment; at + min_segment <= values.size(); ++at) {
        const double distance = distance_from_median(values.first(at)) + distance_from_median(values.subspan(at));
        if (distance < least) {
            least = distance;
            best = at;
        }
    }
    return best;
}

}  // namespace

double CutFinder::p_of(double u, std::size_t n, std::size_t m, double tie_term)
{
    if (n > m) {
        return p_of(static_cast<double>(n * m) - u, m, n, tie_term);
    }
    const double least = min_p(n, m);
    if (tie_term > 0 || n * m > max_exact_product) {
        return std::max(least, normal_p(u, n, m, tie_term));
    }
    auto found = u_distributions_.find({n, m});
    if (found == u_distributions_.end()) {
        found = u_distributions_.emplace(std::pair{n, m}, u_distribution(n, m)).first;
    }
    return exact_p(u, found->second);
}

std::optional<Cut> CutFinder::best_in(std::span<const double> values, std::span<const Range> intervals)
{
    std::optional<Cut> best;
    std::size_t tried = 0;
    for (const auto& [first, end] : intervals) {
        const std::size_t length = end - first;
        const Ranks ranks = ranks_of(values.subspan(first, length));
        double rank_sum = 0;
        for (std::size_t n = 1; n + min_segment <= length; ++n) {
            rank_sum += ranks.rank[n - 1];
            if (n < min_segment) {
                continue;
            }
            ++tried;
            const double u = rank_sum - static_cast<double>(n * (n + 1)) / 2;
            const double p = p_of(u, n, length - n, ranks.tie_term);
            if (!best || p < best->p) {
                best = Cut{first + n, p};
            }
        }
    }
    if (best) {
        best->p = std::min(1.0, best->p * static_cast<double>(tried));
    }
    return best;
}

std::optional<Cut> CutFinder::best_cut(std::span<const double> values)
{
    return best_in(values, seeded_intervals(values.size()));
}

void CutFinder::split(std::span<const double> values, Range range, double level, std::vector<std::size_t>& found)
{
    const auto cut = best_cut(values.subspan(range.first, range.second - range.first));
    if (!cut || cut->p > level) {
        return;
    }
    const std::size_t at = range.first + cut->at;
    split(values, {range.first, at}, level, found);
    found.push_back(at);
    split(values, {at, range.second}, level, found);
}

// A cut that was found while another still hid in its interval is looked for again between its neighbours, and goes
// when nothing is left of it.
std::vector<Cut> CutFinder::cuts(std::span<const double> values, double level)
{
    std::vector<std::size_t> found;
    split(values, {0, values.size()}, level, found);
    std::vector<Cut> cuts;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::size_t first = cuts.empty() ? 0 : cuts.back().at;
        const std::size_t end = i + 1 < found.size() ? found[i + 1] : values.size();
        const std::array whole{Range{0, end - first}};
        const auto cut = best_in(values.subspan(first, end - first), whole);
        if (cut && cut->p <= level) {
            cuts.push_back({first + closest_cut(values.subspan(first, end - first)), cut->p});
        }
    }
    return cuts;
}

}  // namespace memsweep::measure
