#include "core/measure/peers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/assert.hpp"
#include "core/measure/peer_quantiles.hpp"
#include "core/measure/summary.hpp"
#include "core/measure/verdict.hpp"

namespace memsweep::measure {
namespace {

constexpr std::size_t least_few = 3;
constexpr double few_factor = 2;  // how far from the others' median
constexpr double few_ranges = 4;  // ... and how many times the others' own range
constexpr double agreeing_share = 0.75;
constexpr std::size_t least_for_tails = 50;
constexpr double tail_share = 0.9;
constexpr double normal_at_tail = 1.6449;  // |z| that 90 % of normal values stay below

struct Value {
    std::size_t host;
    double value;     // as measured
    double compared;  // its logarithm where that is judged
    double spread;    // within the host, on the same axis
    double low, high;
};

struct Sample {
    std::vector<Value> values;
    bool is_log{};
};

// A relative spread is the spread of the logarithm, to first order.
Sample sample_of(const PeerFigures& figures)
{
    Sample sample;
    for (std::size_t host = 0; host < figures.medians.size(); ++host) {
        const double value = figures.medians[host];
        if (std::isfinite(value)) {
            sample.values.push_back(
                {host, value, value, figures.spreads[host], figures.lows[host], figures.highs[host]});
        }
    }
    sample.is_log = figures.metric_class == model::MetricClass::noisy && !sample.values.empty() &&
                    std::ranges::all_of(sample.values, [](const Value& one) { return one.value > 0 && one.low > 0; });
    for (Value& one : sample.values) {
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

double median_compared(const std::vector<Value>& values)
{
    std::vector<double> compared;
    compared.reserve(values.size());
    for (const Value& one : values) {
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
    for (const Value& one : sample.values) {
        distances.push_back(std::fabs(one.compared - center));
    }
    std::ranges::sort(distances);
    double scale = mad_factor(distances.size()) * median_of_sorted(distances);
    if (distances.size() >= least_for_tails) {
        scale = std::max(scale, percentile(distances, 100 * tail_share) / normal_at_tail);
    }
    return std::max(scale, floor);
}

// How far all of a host's interval is from the center.
double surely_apart(const Value& one, double center)
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
    for (const Value& one : sample.values) {
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
    for (const Value& one : sample.values) {
        std::vector<Value> others = sample.values;
        std::erase_if(others, [&](const Value& other) { return other.host == one.host; });
        const double center = median_compared(others);
        const auto [least, most] = std::ranges::minmax_element(others, {}, &Value::compared);
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
    for (const Value& one : sample.values) {
        ++counts[one.value];
    }
    const auto common = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    if (static_cast<double>(common->second) < agreeing_share * static_cast<double>(sample.values.size())) {
        return;
    }
    for (const Value& one : sample.values) {
        const double distance = one.value - common->first;
        if (beyond(figures.threshold, common->first, distance)) {
            out.deviations.push_back(
                {one.host, PeerRule::counter, 0, std::nullopt, is_worse(figures.better, distance)});
        }
    }
}

}  // namespace

PeerJudgement judge_peers(const PeerFigures& figures)
{
    MEMSWEEP_ASSERT(figures.medians.size() == figures.spreads.size() && figures.medians.size() == figures.lows.size() &&
                        figures.medians.size() == figures.highs.size(),
                    "a spread and an interval for every host");
    const Sample sample = sample_of(figures);
    PeerJudgement out;
    out.hosts = sample.values.size();
    if (sample.values.empty()) {
        return out;
    }
    std::vector<double> sorted;
    for (const Value& one : sample.values) {
        sorted.push_back(one.value);
    }
    std::ranges::sort(sorted);
    out.median = median_of_sorted(sorted);
    out.low = percentile(sorted, 25);
    out.high = percentile(sorted, 75);
    if (out.hosts < least_few) {
        return out;
    }
    if (figures.metric_class == model::MetricClass::exact) {
        judge_counter(figures, sample, out);
    } else if (out.hosts < least_peers) {
        judge_few(figures, sample, out);
    } else {
        judge_by_test(figures, sample, out);
    }
    return out;
}

}  // namespace memsweep::measure
