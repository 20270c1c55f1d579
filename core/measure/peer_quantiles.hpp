// How far from its peers a value lies that is like them: tail probabilities of the robust z-score.
//
// z = |value - median| / (1.4826 c(n) MAD) over all n values, its own among them. From few values the MAD is itself
// uncertain, so z has far heavier tails than a normal variable: 1 of 100 values of 8 lies beyond 4.0, of 10,000 beyond
// 2.6; taking 3.5 for every n would name one healthy host of ten in small fleets.
//
// Sources  c(n): Croux and Rousseeuw 1992. Quantiles: 6,000,000 normal values in groups of n; between the simulated n
//          linear in 1/n, down to the normal quantiles at 1/n = 0; between the simulated p linear in the logarithms of
//          both, and beyond the last of them the same line on, which is more cautious than any normal tail.
// Cost     a table look-up.
#pragma once

#include <cstddef>

namespace memsweep::measure {

// Fewer values than these say too little about a tail.
inline constexpr std::size_t least_peers = 8;

// What the MAD is multiplied by to estimate a standard deviation without bias: 1.4826 c(n). n >= 2.
[[nodiscard]] double mad_factor(std::size_t n);

// P(|z| of one of n like values is at least this), two-sided. n >= least_peers.
[[nodiscard]] double peer_p(double z, std::size_t n);

}  // namespace memsweep::measure
