// One fixed result that every writer's golden file is made from: two measured cases, one skipped and one that timed
// out.
#pragma once

#include "core/model/report.hpp"

namespace memsweep::reporters {

[[nodiscard]] model::RunReport sample_report();

// The same with names that try to break out of every format.
[[nodiscard]] model::RunReport hostile_report();

// All names of hostile_report() that are not axis names.
[[nodiscard]] std::vector<std::string> hostile_names();

}  // namespace memsweep::reporters
