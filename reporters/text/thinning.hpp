// Long curves made short without losing their extremes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace memsweep::reporters {

// The indices of at most `limit` (at least 4) values, in ascending order: the first, the last, and the lowest and the
// highest of every stretch between. All of them when they are few; values that are not finite are left out of long
// ones.
[[nodiscard]] std::vector<std::size_t> thinned(std::span<const double> values, std::size_t limit);

}  // namespace memsweep::reporters
