// What replays say about allocators, as sentences without full stops.
#pragma once

#include <string>

#include "core/measure/replay_verdict.hpp"

namespace memsweep::reporters {

// Names the allocator to take, and says why: "take jemalloc: no other is shown to be faster or to hold less".
[[nodiscard]] std::string verdict_text(const measure::ReplayVerdict& verdict);

// Says what the verdict rests on: "by the medians jemalloc is fastest, 12 ns per event against ...".
[[nodiscard]] std::string figures_text(const measure::ReplayVerdict& verdict);

}  // namespace memsweep::reporters
