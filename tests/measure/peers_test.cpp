#include "core/measure/peers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/base/rng.hpp"
#include "core/measure/statistics.hpp"
#include "tests/support/catch.hpp"

using namespace memsweep;
using namespace memsweep::measure;

namespace {

constexpr double none_there = std::numeric_limits<double>::quiet_NaN();
constexpr Threshold five_percent{.relative = 0.05, .absolute = 0};

// Box and Muller 1958.
double normal(base::Rng& rng)
{
    const auto uniform = [&] { return (static_cast<double>(rng.next() >> 11) + 0.5) / 9007199254740992.0; };
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<double> scattered(std::size_t n, double center, double relative, base::Rng& rng)
{
    std::vector<double> values(n);
    std::ranges::generate(values, [&] { return center * std::exp(relative * normal(rng)); });
    return values;
}

// Of every host that is there, from repetitions that are all alike.
std::vector<PeerValue> values_of(const std::vector<double>& medians)
{
    std::vector<PeerValue> values;
    for (std::size_t host = 0; host < medians.size(); ++host) {
        const double median = medians[host];
        if (std::isfinite(median)) {
            values.push_back({.host = host, .value = median, .low = median, .high = median});
        }
    }
    return values;
}

PeerJudgement judge(const std::vector<double>& medians, model::MetricClass metric_class = model::MetricClass::noisy,
                    model::Better better = model::Better::lower, Threshold threshold = five_percent)
{
    return judge_peers({values_of(medians), better, metric_class, threshold});
}

std::vector<std::size_t> named(const PeerJudgement& judgement)
{
    std::vector<std::size_t> hosts;
    for (const Deviation& one : judgement.deviations) {
        hosts.push_back(one.host);
    }
    return hosts;
}

}  // namespace

TEST_CASE("factors of the MAD are those of Croux and Rousseeuw", "[unit]")
{
    CHECK(mad_factor(2) == Approx(1.4826 * 1.196));
    CHECK(mad_factor(9) == Approx(1.4826 * 1.107));
    CHECK(mad_factor(10) == Approx(1.4826 * 10 / 9.2));
    CHECK(mad_factor(100000) == Approx(1.4826).epsilon(1e-4));
}

TEST_CASE("tails agree with the normal distribution for many peers and are heavier for few", "[unit]")
{
    CHECK(peer_p(2.576, 1'000'000'000) == Approx(0.01).epsilon(0.001));
    CHECK(peer_p(3.891, 1'000'000'000) == Approx(1e-4).epsilon(0.001));
    CHECK(peer_p(0, 20) == Approx(1));
    double before = 0;
    for (const std::size_t n : {1000U, 200U, 50U, 20U, 11U, 8U}) {
        const double p = peer_p(5, n);
        CHECK(p > before);
        before = p;
    }
    for (const std::size_t n : {8U, 13U, 300U, 100000U}) {
        double last = 2;
        for (double z = 0; z < 60; z += 0.25) {
            CHECK(peer_p(z, n) < last);
            last = peer_p(z, n);
        }
    }
}

TEST_CASE("like hosts come out as p says, also between the sizes that were simulated", "[unit][campaign]")
{
    base::Rng rng{20260131};
    for (const std::size_t n : {9U, 20U, 40U, 100U}) {
        constexpr std::size_t values = 400'000;
        std::array<std::size_t, 2> beyond{};
        for (std::size_t trial = 0; trial < values / n; ++trial) {
            std::vector<double> sample(n);
            std::ranges::generate(sample, [&] { return normal(rng); });
            std::vector<double> sorted = sample;
            std::ranges::sort(sorted);
            const double middle = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
            for (double& one : sorted) {
                one = std::fabs(one - middle);
            }
            std::ranges::sort(sorted);
            const double mad = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
            for (const double one : sample) {
                const double p = peer_p(std::fabs(one - middle) / (mad_factor(n) * mad), n);
                beyond[0] += p <= 0.01 ? 1U : 0U;
                beyond[1] += p <= 0.001 ? 1U : 0U;
            }
        }
        INFO("n " << n);
        CHECK(static_cast<double>(beyond[0]) / values == Approx(0.01).epsilon(0.12));
        CHECK(static_cast<double>(beyond[1]) / values == Approx(0.001).epsilon(0.25));
    }
}

TEST_CASE("a host that is slower is named, on the side that is worse", "[unit]")
{
    base::Rng rng{1};
    std::vector<double> times = scattered(100, 1e-3, 0.02, rng);
    times[17] *= 1.4;
    times[60] /= 1.4;
    const PeerJudgement judgement = judge(times);
    CHECK(judgement.tests == 100);
    REQUIRE(judgement.deviations.size() >= 2);
    for (const Deviation& one : judgement.deviations) {
        if (one.host == 17) {
            CHECK(one.is_worse);
            CHECK(one.z > 8);
            CHECK(*one.p < 1e-9);
        }
        if (one.host == 60) {
            CHECK_FALSE(one.is_worse);
            CHECK(one.z < -8);
        }
    }
    CHECK(judge(times, model::MetricClass::noisy, model::Better::higher).deviations.front().is_worse !=
          judgement.deviations.front().is_worse);
}

TEST_CASE("hosts that are all the same but one are no division by zero", "[unit]")
{
    std::vector<double> times(20, 2.0);
    CHECK(named(judge(times)).empty());
    times[3] = 2.04;  // within the threshold
    CHECK(named(judge(times)).empty());
    times[3] = 3;
    CHECK(named(judge(times)) == std::vector<std::size_t>{3});
    times.assign(20, 0.0);
    CHECK(named(judge(times)).empty());
}

TEST_CASE("hosts without a value are left out", "[unit]")
{
    CHECK(judge({none_there, none_there}).hosts == 0);
    CHECK(judge({1, none_there}).hosts == 1);
    std::vector<double> times(20, 2.0);
    times[0] = none_there;
    times[9] = 9;
    const PeerJudgement judgement = judge(times);
    CHECK(judgement.hosts == 19);
    CHECK(named(judgement) == std::vector<std::size_t>{9});
}

TEST_CASE("who was like the others in some repetitions is not named, however far out the median is", "[unit]")
{
    base::Rng rng{5};
    std::vector<double> times = scattered(100, 1e-3, 0.02, rng);
    times[4] = times[5] = 1.5e-3;
    times[6] = times[7] = 0.6e-3;
    std::vector<PeerValue> values = values_of(times);
    values[4].low = 1.02e-3;
    values[6].high = 0.98e-3;
    const std::vector<std::size_t> hosts = named(judge_peers({.values = values,
                                                              .better = model::Better::lower,
                                                              .metric_class = model::MetricClass::noisy,
                                                              .threshold = five_percent}));
    const auto is_named = [&](std::size_t host) { return std::ranges::count(hosts, host) == 1; };
    CHECK_FALSE(is_named(4));
    CHECK(is_named(5));
    CHECK_FALSE(is_named(6));
    CHECK(is_named(7));
}

TEST_CASE("among few hosts only what is clear cut is named", "[unit]")
{
    CHECK(named(judge({1, 1.02, 0.99, 4})) == std::vector<std::size_t>{3});
    CHECK(named(judge({1, 1.02, 0.99, 1.6})).empty());
    CHECK(named(judge({1, 2, 3, 8})).empty());       // the others are not alike either
    CHECK(named(judge({1, 1.02, 4, 4.1})).empty());  // two against two
    CHECK(named(judge({1, 4})).empty());
    std::vector<PeerValue> values = values_of({1, 1, 1, 4});
    values[3].spread = 1;  // its own repetitions scatter as widely
    CHECK(named(judge_peers({.values = values,
                             .better = model::Better::lower,
                             .metric_class = model::MetricClass::noisy,
                             .threshold = five_percent}))
              .empty());
    CHECK(judge({1, 1, 1, 4}).deviations.front().rule == PeerRule::few);
}

TEST_CASE("an exact counter names who differs from three quarters that agree", "[unit]")
{
    const auto exact = model::MetricClass::exact;
    const Threshold none{};
    CHECK(named(judge({7, 7, 7, 8}, exact, model::Better::lower, none)) == std::vector<std::size_t>{3});
    CHECK(named(judge({7, 7, 8, 8}, exact, model::Better::lower, none)).empty());
    CHECK(named(judge({7, 7, 7, 7}, exact, model::Better::lower, none)).empty());
    CHECK(named(judge({100, 100, 100, 101}, exact)).empty());
}

TEST_CASE("of like fleets with measured tails hardly a host is named", "[unit]")
{
    base::Rng rng{99};
    std::size_t wrong = 0;
    constexpr std::size_t fleets = 40;
    for (std::size_t fleet = 0; fleet < fleets; ++fleet) {
        std::vector<double> times = scattered(300, 1, 0.03, rng);
        for (std::size_t i = 0; i < times.size(); i += 20) {
            times[i] *= std::exp(0.09 * normal(rng));  // one of twenty scatters three times as far
        }
        const PeerJudgement judgement = judge(times);
        std::vector<double> p;
        for (const Deviation& one : judgement.deviations) {
            p.push_back(*one.p);
        }
        const std::vector<double> q = benjamini_hochberg(p, judgement.tests);
        wrong += static_cast<std::size_t>(std::ranges::count_if(q, [](double one) { return one <= 0.01; }));
    }
    CHECK(wrong <= fleets * 3);  // of 300: 1 %
}

TEST_CASE("adjusting the smallest of a family is adjusting the family", "[unit]")
{
    const std::vector<double> all{0.001, 0.008, 0.039, 0.041, 0.6, 0.9, 0.99, 1};
    const std::vector<double> whole = benjamini_hochberg(all);
    const std::vector<double> part = benjamini_hochberg(std::vector<double>{all.begin(), all.begin() + 4}, all.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
        CHECK(part[i] == Approx(whole[i]));
    }
}
