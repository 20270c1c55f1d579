// The parts of a step report besides its metrics: points, phases, defects, times of calls, and facts such as the routes
// of transfers.
//
// Units    seconds, bytes and counts.
#pragma once

#include <cstdint>
#include <string>

#include "core/engine/steps/step_metrics.hpp"
#include "core/model/report.hpp"

namespace memsweep::engine {

// class_of() returns the class of a metric, provenance_of() where its values come from. Both depend on the release mode
// of `program`; they return `usual` unless this mode changes it.
[[nodiscard]] model::MetricClass class_of(const StepRow& row, model::MetricClass usual, const StepProgram& program);
[[nodiscard]] model::Provenance provenance_of(const StepRow& row, model::Provenance usual, const StepProgram& program);

// Whether the case switches off the allocation counters that the metric needs.
[[nodiscard]] bool is_uncounted(const StepRow& row, const StepProgram& program);

void append_details(const StepContext& context, std::uint32_t repetition, model::CaseReport& report);

// Adds facts to the report. A fact that an earlier repetition gave stays as it is. Returns why this repetition does
// not count: an empty text, because a repetition of steps always counts. For programs, see command_report.hpp.
[[nodiscard]] std::string keep_facts(const StepProgram& program, const StepMeasurements& measured, bool has_finished,
                                     model::CaseReport& report);

}  // namespace memsweep::engine
