// What replays say about allocators, as sentences without full stops.
#pragma once

#include <string>

#include "core/measure/replay_verdict.hpp"

namespace memsweep::reporters {

// "take jemalloc: no other is shown to be faster or to hold less".
[[nodiscard]] std::string verdict_text(const measure::ReplayVerdict& verdict);

// What the verdict rests on: "by the medians jemalloc is fastest, 12 ns per event against ...".
[[nodiscard]] std::string figures_text(const measure::ReplayVerdict& verdict);

}  // namespace memsweep::reporters
