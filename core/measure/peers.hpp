// Finds the hosts that differ from the other hosts, among many that measured the same quantity.
//
// Positive quantities (times, bandwidths) are judged by their logarithms, so that half as fast and twice as fast are
// equally far from the median. The number of hosts and the spread of their values decide between three rules:
//
//   test     8 hosts or more. A host gets a robust z-score (by median and MAD) and the p of this z. The caller adjusts
//            the p over all tests. The scale of z (the spread that z is measured in) is never below a third of the
//            metric's threshold, because a MAD of 0 would make every host an outlier. With 50 hosts or more, it is also
//            never below the scale that the 90th percentile of the distances implies. The reason is that real fleets
//            have heavier tails than a normal distribution. The host's own interval has two ends; the p is computed
//            from the end that is nearer to the other hosts. This spares a host that was disturbed in only some of its
//            repetitions: its other repetitions are like those of other hosts.
//   few      3 to 7 hosts, too few for a p. A host is named if two things hold: its value is at least twice, or at most
//            half, the median of the others; and its distance from this median is more than four times the range of the
//            others. Under this rule, two bad hosts hide each other.
//   counter  an exact counter with one value on at least three quarters of the hosts. Hosts with other values are
//            named.
//
// In every rule the distance must also be beyond the metric's threshold (verdict.hpp). So hosts that differ reliably,
// but by little, are not named.
//
// Units    those of the values.
// Sources  median and MAD: Hampel 1974; Iglewicz and Hoaglin 1993. Tails: peer_p.
// Cost     O(n log n) for n hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/measure/verdict.hpp"
#include "core/model/metric.hpp"

namespace memsweep::measure {

enum class PeerRule : std::uint8_t { test, few, counter };

struct PeerValue {
    std::size_t host{};
    double value{};        // the median of the host's repetitions
    double spread{};       // the MAD of its repetitions
    double low{}, high{};  // the interval of the median
};

struct PeerFigures {
    std::vector<PeerValue> values;  // only of hosts that have a value
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
};

struct Deviation {
    std::size_t host{};
    PeerRule rule{};
    // Signed. For `test` in robust standard deviations, for `few` in multiples of the others' range, for `counter` 0.
    double z{};
    std::optional<double> p;  // rule `test` only
    bool is_worse{};          // the host differs in the direction that is worse for this metric
};

struct PeerJudgement {
    std::size_t hosts{};  // the number of hosts that have a value
    std::size_t tests{};  // hosts judged by p; adjust their p values together
    double median{};
    double low{}, high{};               // quartiles
    std::optional<double> scale;        // rule `test` only; a fraction if logarithms are judged
    std::vector<Deviation> deviations;  // of hosts that may be named; under `test`, those with p <= significance
};

[[nodiscard]] PeerJudgement judge_peers(const PeerFigures& figures);

// The fewest hosts for rule `test`. With fewer values, too little is known about the tail of the distribution.
inline constexpr std::size_t min_peers = 8;

// Returns the factor 1.4826 c(n). The MAD of n values times this factor is an unbiased estimate of the standard
// deviation. n >= 2.
[[nodiscard]] double mad_factor(std::size_t n);

// Returns the two-sided p: the probability that |z| of one of n normal values is at least `z`. n >= min_peers.
//
// z = |value - median| / (1.4826 c(n) MAD), with median and MAD over all n values. The MAD of few values is itself
// uncertain, so z has far heavier tails than a normal variable. One |z| in 100 lies beyond 4.0 if n is 8, and beyond
// 2.6 if n is 10,000. A limit of 3.5 for every n would name one of ten healthy hosts in small fleets.
//
// Sources  c(n): Croux and Rousseeuw 1992. Quantiles of z: simulated with 6,000,000 normal values in groups of n.
//          Between the simulated n, the quantiles are interpolated linearly in 1/n. The limit at 1/n = 0 is the normal
//          quantile. Between the simulated p, log p is interpolated linearly in log z. For z beyond the simulated
//          values, the last line is extended; it gives a larger p than a normal tail.
[[nodiscard]] double peer_p(double z, std::size_t n);

}  // namespace memsweep::measure
