// Chooses a fraction of a sequence: evenly spread, and the same elements in every run.
//
// Threads  any: a pure function. The caller numbers the sequence.
#pragma once

#include <cmath>
#include <cstdint>

namespace memsweep::lifetime {

// Whether number `i` (from 0) belongs to the `fraction` chosen: of the first n, round(n * fraction) do.
[[nodiscard]] inline bool chosen(std::uint64_t i, double fraction) noexcept
{
    const auto upto = [fraction](std::uint64_t n) { return std::floor(static_cast<double>(n) * fraction + 0.5); };
    return upto(i + 1) > upto(i);
}

}  // namespace memsweep::lifetime
