// Turns the measurements of a repetition into metrics, points, phases and series of its case.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says.
#pragma once

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/engine/repetition/metric_row.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Adds every metric that applies to the case, without values. Call it one time, before the first repetition.
void declare_metrics(const CompiledCase& compiled, model::CaseReport& report);

// Appends the values of one repetition. A value that could not be measured stays empty; the metric says why. Removes
// the summaries made so far, because they do not cover this repetition.
void append_repetition(const CompiledCase& compiled, const Attempt& attempt, const PageSizes& pages,
                       model::CaseReport& report);

// Removes the values of the last repetition, which will be measured again.
void remove_last_repetition(model::CaseReport& report);

// Computes the missing summaries.
void summarize_metrics(model::CaseReport& report);

}  // namespace memsweep::engine
