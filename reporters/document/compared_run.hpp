// A run together with a comparison that its result does not hold, or does not hold alone: `run --baseline`, and
// `run --against` if one of the programs failed. Its pages show both verdicts, the worse one first.
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

// Whether a case of the run failed, crashed or took too long, or an assertion does not hold: a comparison of what was
// measured does not tell that.
[[nodiscard]] bool has_failed(const model::RunReport& run);

}  // namespace memsweep::reporters
