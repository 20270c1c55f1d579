// The document of a run: findings first, then the tables that show them, scenario by scenario.
//
// Units    sizes in IEC units, rates in SI units, durations in a suitable unit. Every measured value is a median over
//          the repetitions unless its heading says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// Describes the run as a whole: whether it ran, whether all assertions held, where the measured values come from, and
// the warnings.
[[nodiscard]] Opening run_opening(const model::RunReport& report);

[[nodiscard]] std::vector<Fact> run_facts(const model::RunReport& report);      // scenario, command, times, seed, tool
[[nodiscard]] std::string harness_line(const model::Calibration& calibration);  // empty: not measured
[[nodiscard]] std::string streaming_line(const model::Calibration& calibration);    // empty: not measured
[[nodiscard]] std::string duet_line(const std::vector<std::uint32_t>& processors);  // empty: no processors
[[nodiscard]] std::vector<Fact> machine_facts(const model::Machine& machine);  // facts that affect what is measured
[[nodiscard]] std::string machine_line(const model::Machine& machine);         // machine_facts() in one sentence

// Groups warnings by code and hint, in order of appearance. The groups point into the report, which must outlive them.
[[nodiscard]] std::vector<WarningGroup> warning_groups(const model::RunReport& report);

}  // namespace memsweep::reporters
