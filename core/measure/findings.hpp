// What a reader of a result should know first, as plain sentences: what went wrong, then what each release mode costs
// against refcount or what a probe found, then what was left out.
//
// Units    written out in every sentence; factors are medians of ratios with their 95 % interval.
// Errors   none: where a metric is absent, its part of a sentence is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

enum class Importance : std::uint8_t { failure, warning, note };

struct Finding {
    Importance importance{};
    std::string text;  // without a full stop
};

[[nodiscard]] std::vector<Finding> findings(const model::RunReport& report);

// What a probe found about a machine's memory: its bandwidth, what non-temporal stores gain, the latency of a load by
// the size of the working set, what several loads at once gain, and the cost of a page fault. Empty where no case is a
// probe's.
[[nodiscard]] std::vector<std::string> probe_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
