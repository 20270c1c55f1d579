// One report of a run and a comparison. It is made by `run --baseline`, whose result does not hold the comparison, and
// by `run --against` if the run failed. It shows both verdicts: that of the run first if the run failed, otherwise
// that of the comparison.
#pragma once

#include "core/model/report.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct ComparedRun {
    const model::RunReport& run;
    ComparisonReport against;
};

[[nodiscard]] Document document(const ComparedRun& compared);

// Whether a case of the run failed, crashed or took too long, or an assertion does not hold. A comparison of
// measurements does not show this.
[[nodiscard]] bool has_failed(const model::RunReport& run);

}  // namespace memsweep::reporters
