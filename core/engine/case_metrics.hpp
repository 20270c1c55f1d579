// Turns the record of a repetition into the metrics, points, phases and series of its case.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says.
#pragma once

#include "core/engine/repetition/attempt.hpp"
#include "core/engine/repetition/compiled_case.hpp"
#include "core/engine/repetition/metric_row.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// Every metric that applies to the case, without values: call once, before the first repetition.
void declare_metrics(const CompiledCase& compiled, model::CaseReport& report);

// Appends one repetition's values; absent ones stay empty with a reason in the metric. Removes summaries, which cover
// fewer repetitions.
void append_repetition(const CompiledCase& compiled, const Attempt& attempt, const PageSizes& pages,
                       model::CaseReport& report);

// Takes the last repetition's values away again: it is to be measured once more.
void remove_last_repetition(model::CaseReport& report);

// Makes the summaries that are missing.
void summarize_metrics(model::CaseReport& report);

}  // namespace memsweep::engine
