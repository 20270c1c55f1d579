// What a run says: findings first, then the tables that show them, scenario by scenario.
//
// Units    sizes in IEC units, rates in SI, durations in the unit that suits them; every figure is a median over the
//          repetitions unless its heading says otherwise.
#pragma once

#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// The document points into the report.
[[nodiscard]] Document document(const model::RunReport& report, const Audience& audience);

}  // namespace memsweep::reporters
