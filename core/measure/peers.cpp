#include "core/measure/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/base/assert.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {
namespace {

constexpr std::array<double, 5> tails{1e-1, 1e-2, 1e-3, 1e-4, 1e-5};

struct Row {
    double inverse_n;
    std::array<double, tails.size()> z;
};

// Simulated as the header says, each n where odd ones still differ from even ones; the last is the normal
// distribution's.
constexpr std::array<Row, 17> rows{{{1.0 / 8, {1.714, 4.036, 7.910, 14.981, 27.565}},
                                    {1.0 / 9, {1.779, 4.170, 8.206, 15.300, 26.784}},
                                    {1.0 / 10, {1.730, 3.726, 6.643, 11.034, 18.287}},
                                    {1.0 / 11, {1.763, 3.793, 6.748, 11.336, 18.763}},
                                    {1.0 / 12, {1.722, 3.513, 5.911, 9.314, 14.004}},
                                    {1.0 / 13, {1.741, 3.545, 5.923, 9.306, 14.402}},
                                    {1.0 / 14, {1.713, 3.350, 5.417, 8.284, 12.468}},
                                    {1.0 / 15, {1.725, 3.376, 5.443, 8.276, 11.997}},
                                    {1.0 / 16, {1.706, 3.239, 5.059, 7.339, 10.623}},
                                    {1.0 / 17, {1.716, 3.260, 5.083, 7.370, 10.392}},
                                    {1.0 / 24, {1.688, 3.003, 4.382, 5.930, 7.692}},
                                    {1.0 / 32, {1.676, 2.884, 4.052, 5.262, 6.620}},
                                    {1.0 / 48, {1.667, 2.779, 3.788, 4.767, 5.800}},
                                    {1.0 / 64, {1.661, 2.724, 3.655, 4.546, 5.409}},
                                    {1.0 / 128, {1.654, 2.651, 3.466, 4.183, 4.882}},
                                    {1.0 / 256, {1.649, 2.617, 3.380, 4.035, 4.633}},
                                    {0.0, {1.645, 2.576, 3.291, 3.891, 4.417}}}};

std::array<double, tails.size()> quantiles(std::size_t n)
{
    const double inverse = 1 / static_cast<double>(n);
    std::size_t at = 0;
    while (rows.at(at).inverse_n > inverse) {
        ++at;
    }
    const Row& below = rows.at(at);
    if (at == 0) {
        return below.z;
    }
    const Row& above = rows.at(at - 1);
    const double share = (above.inverse_n - inverse) / (above.inverse_n - below.inverse_n);
    std::array<double, tails.size()> z{};
    for (std::size_t i = 0; i < z.size(); ++i) {
        z.at(i) = above.z.at(i) + share * (below.z.at(i) - above.z.at(i));
    }
    return z;
}

constexpr std::size_t min_few = 3;
constexpr double few_factor = 2;  // how far from the others' median
constexpr double few_ranges = 4;  // ... and how many times the others' own range
constexpr double min_agreeing_share = 0.75;
constexpr std::size_t min_hosts_for_tails = 50;
constexpr double tail_share = 0.9;
constexpr double normal_at_tail = 1.6449;  // |z| that 90 % of normal values stay below

// Spread and interval are on the axis of what is compared.
struct HostValue : PeerValue {
    double compared{};  // the value, or its logarithm where that is judged
};

struct Sample {
    std::vector<HostValue> values;
    bool is_log{};
};

// A relative spread is the spread of the logarithm, to first order.
Sample sample_of(const PeerFigures& figures)
{
    Sample sample;
    for (const PeerValue& one : figures.values) {
        sample.values.push_back({one, one.value});
    }
    sample.is_log =
        figures.metric_class == model::MetricClass::noisy && !sample.values.empty() &&
        std::ranges::all_of(sample.values, [](const HostValue& one) { return one.value > 0 && one.low > 0; });
    for (HostValue& one : sample.values) {
        if (sample.is_log) {
            one.spread = one.spread / one.value;
            one.compared = std::log(one.value);
            one.low = std::log(one.low);
            one.high = std::log(one.high);
        }
        one.spread = std::isfinite(one.spread) ? one.spread : 0;
    }
    return sample;
}

double median_compared(const std::vector<HostValue>& values)
{
    std::vector<double> compared;
    compared.reserve(values.size());
    for (const HostValue& one : values) {
        compared.push_back(one.compared);
    }
    return median(std::move(compared));
}

// The least scale that makes sense: a third of what would matter at all.
double floor_of(const Threshold& threshold, const Sample& sample, double center)
{
    if (sample.is_log) {
        return std::max(threshold.relative, threshold.absolute / std::exp(center)) / 3;
    }
    return std::max(threshold.relative * std::fabs(center), threshold.absolute) / 3;
}

bool is_worse(model::Better better, double distance)
{
    return better == model::Better::lower ? distance > 0 : distance < 0;
}

double scale_of(const Sample& sample, double center, double floor)
{
    std::vector<double> distances;
    distances.reserve(sample.values.size());
    for (const HostValue& one : sample.values) {
        distances.push_back(std::fabs(one.compared - center));
    }
    std::ranges::sort(distances);
    double scale = mad_factor(distances.size()) * median_of_sorted(distances);
    if (distances.size() >= min_hosts_for_tails) {
        scale = std::max(scale, percentile(distances, 100 * tail_share) / normal_at_tail);
    }
    return std::max(scale, floor);
}

// How far all of a host's interval is from the center.
double surely_apart(const HostValue& one, double center)
{
    return std::max({one.low - center, center - one.high, 0.0});
}

void judge_by_test(const PeerFigures& figures, const Sample& sample, PeerJudgement& out)
{
    const double center = median_compared(sample.values);
    const double floor = floor_of(figures.threshold, sample, center);
    const double scale = scale_of(sample, center, floor);
    out.tests = sample.values.size();
    out.scale = scale;
    if (!(scale > 0)) {
        return;  // all are the same, and any difference would count: an exact counter, judged by its rule
    }
    for (const HostValue& one : sample.values) {
        const double z = (one.compared - center) / scale;
        const double p = peer_p(surely_apart(one, center) / scale, sample.values.size());
        if (p <= significance && beyond(figures.threshold, out.median, one.value - out.median)) {
            out.deviations.push_back({one.host, PeerRule::test, z, p, is_worse(figures.better, z)});
        }
    }
}

// Nothing but clear cut: with so few hosts the others' own range is the only measure of what is usual.
void judge_few(const PeerFigures& figures, const Sample& sample, PeerJudgement& out)
{
    for (const HostValue& one : sample.values) {
        std::vector<HostValue> others = sample.values;
        std::erase_if(others, [&](const HostValue& other) { return other.host == one.host; });
        const double center = median_compared(others);
        const auto [least, most] = std::ranges::minmax_element(others, {}, &HostValue::compared);
        const double range = std::max({most->compared - least->compared, floor_of(figures.threshold, sample, center),
                                       mad_factor(2) * one.spread});
        const double distance = one.compared - center;
        const double usual = sample.is_log ? std::exp(center) : center;
        const double factor = sample.is_log ? std::exp(std::fabs(distance)) : std::fabs(one.value / usual);
        const bool is_far = sample.is_log ? factor >= few_factor : !(factor < few_factor && factor > 1 / few_factor);
        if (is_far && std::fabs(distance) > few_ranges * range && beyond(figures.threshold, usual, one.value - usual)) {
            out.deviations.push_back(
                {one.host, PeerRule::few, distance / range, std::nullopt, is_worse(figures.better, distance)});
        }
    }
}

void judge_counter(const PeerFigures& figures, const Sample& sample, PeerJudgement& out)
{
    std::map<double, std::size_t> counts;
    for (const HostValue& one : sample.values) {
        ++counts[one.value];
    }
    const auto common = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (static_cast<double>(common->second) < min_agreeing_share * static_cast<double>(sample.values.size())) {
        return;
    }
    for (const HostValue& one : sample.values) {
        const double distance = one.value - common->first;
        if (beyond(figures.threshold, common->first, distance)) {
            out.deviations.push_back(
                {one.host, PeerRule::counter, 0, std::nullopt, is_worse(figures.better, distance)});
        }
    }
}

}  // namespace

double mad_factor(std::size_t n)
{
    constexpr double of_normal = 1.4826;
    constexpr std::array<double, 8> small{1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};  // n = 2 to 9
    MEMSWEEP_ASSERT(n >= 2, "one value has no spread");
    const auto count = static_cast<double>(n);
    return of_normal * (n - 2 < small.size() ? small.at(n - 2) : count / (count - 0.8));
}

double peer_p(double z, std::size_t n)
{
    MEMSWEEP_ASSERT(n >= min_peers, "too few values for a tail");
    const std::array<double, tails.size()> at = quantiles(n);
    if (z <= at.front()) {
        return tails.front() + (1 - tails.front()) * (1 - z / at.front());
    }
    std::size_t i = 1;
    while (i + 1 < at.size() && z > at.at(i)) {
        ++i;
    }
    const double slope = std::log(tails.at(i) / tails.at(i - 1)) / std::log(at.at(i) / at.at(i - 1));
    return tails.at(i) * std::pow(z / at.at(i), slope);
}

PeerJudgement judge_peers(const PeerFigures& figures)
{
    const Sample sample = sample_of(figures);
    PeerJudgement out;
    out.hosts = sample.values.size();
    if (sample.values.empty()) {
        return out;
    }
    std::vector<double> sorted;
    for (const HostValue& one : sample.values) {
        sorted.push_back(one.value);
    }
    std::ranges::sort(sorted);
    out.median = median_of_sorted(sorted);
    out.low = percentile(sorted, 25);
    out.high = percentile(sorted, 75);
    if (out.hosts < min_few) {
        return out;
    }
    if (figures.metric_class == model::MetricClass::exact) {
        judge_counter(figures, sample, out);
    } else if (out.hosts < min_peers) {
        judge_few(figures, sample, out);
    } else {
        judge_by_test(figures, sample, out);
    }
    return out;
}

}  // namespace memsweep::measure
