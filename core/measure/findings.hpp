// What a reader of a result should know first, as plain sentences: what went wrong, then what each release mode costs
// against refcount or what a probe found, then what was left out.
//
// Units    written out in every sentence; factors are medians of ratios with their 95 % interval.
// Errors   none: where a metric is absent, its part of a sentence is left out.
#pragma once

#include <cstdint>
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

}  // namespace memsweep::measure
