// The sampled curves of a result, as tables that open on demand.
#pragma once

#include <string>

#include "core/model/report.hpp"

namespace memsweep::reporters {

// The first measured repetition of each case, thinned; empty when nothing was sampled.
[[nodiscard]] std::string series_html(const model::RunReport& report);

}  // namespace memsweep::reporters
