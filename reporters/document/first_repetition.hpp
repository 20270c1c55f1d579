// The repetition whose curves stand for a case.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// The first that was sampled; 0 when none was.
[[nodiscard]] inline std::uint32_t first_repetition(const model::CaseReport& report)
{
    return report.series.empty() ? 0
                                 : std::ranges::min_element(report.series, {}, &model::Series::repetition)->repetition;
}

}  // namespace memsweep::reporters
