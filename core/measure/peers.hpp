// Finds the hosts that are not like the others, among many that measured the same thing.
//
// Quantities that are positive (times, bandwidths) are judged by their logarithms, so that half as fast and twice as
// fast lie equally far out. The number of hosts and the spread of their values decide between three rules:
//
//   test     8 hosts or more: the robust z-score (median and MAD) and its p, to be adjusted over all that are tested.
//            The scale is never below a third of the metric's threshold, because a MAD of 0 would make every host an
//            outlier. From 50 hosts on, it is also never below what the tenth furthest out of a hundred shows, because
//            real fleets have heavier tails than a normal distribution. The p belongs to the end of the host's own
//            interval that lies nearest to the others: a host that was disturbed in some repetitions has shown values
//            like theirs too.
//   few      3 to 7 hosts: no p is possible. A host is named if it lies beyond twice (or half) the median of all
//            others, and four times further from it than the others lie apart. Among so few, a second bad host hides
//            both.
//   counter  an exact counter on which at least three quarters of the hosts agree: the hosts with another value.
//
// In every rule the distance must also be beyond the metric's threshold (verdict.hpp). So hosts that differ reliably,
// but by little, are not named.
//
// Units    those of the values.
// Sources  median and MAD: Hampel 1974; Iglewicz and Hoaglin 1993. Tails: peer_p.
// Cost     n log n.
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
    double value{};        // the median of its repetitions
    double spread{};       // their MAD
    double low{}, high{};  // the interval of the median
};

struct PeerFigures {
    std::vector<PeerValue> values;  // only the hosts that have one
    model::Better better{};
    model::MetricClass metric_class{};
    Threshold threshold;
};

struct Deviation {
    std::size_t host{};
    PeerRule rule{};
    double z{};               // signed: robust standard deviations; `few`: in ranges of the others; `counter`: 0
    std::optional<double> p;  // rule `test` only
    bool is_worse{};          // on the side that is worse, by `better`
};

struct PeerJudgement {
    std::size_t hosts{};  // that have a value
    std::size_t tests{};  // hosts judged by p, all of which belong to the family that p is adjusted over
    double median{};
    double low{}, high{};               // quartiles
    std::optional<double> scale;        // `test` rule only; a fraction where logarithms are judged
    std::vector<Deviation> deviations;  // candidates; under `test`, those with p <= significance
};

[[nodiscard]] PeerJudgement judge_peers(const PeerFigures& figures);

// Fewer values than these say too little about a tail.
inline constexpr std::size_t min_peers = 8;

// The factor 1.4826 c(n), by which a MAD estimates a standard deviation without bias. n >= 2.
[[nodiscard]] double mad_factor(std::size_t n);

// The probability that |z| of one of n like values is at least this, two-sided. n >= min_peers.
//
// z = |value - median| / (1.4826 c(n) MAD) over all n values, its own among them. The MAD of few values is itself
// uncertain, so z has far heavier tails than a normal variable. One z in 100 lies beyond 4.0 if n is 8, and beyond 2.6
// if n is 10,000. Taking 3.5 for every n would name one healthy host of ten in small fleets.
//
// Sources  c(n): Croux and Rousseeuw 1992. Quantiles: 6,000,000 normal values in groups of n. Between the simulated n
//          they are linear in 1/n, down to the normal quantiles at 1/n = 0. Between the simulated p they are linear in
//          the logarithms of both. Beyond the last p the same line goes on, which is more cautious than any normal
//          tail.
[[nodiscard]] double peer_p(double z, std::size_t n);

}  // namespace memsweep::measure
