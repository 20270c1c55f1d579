// The document of a run: findings first, then the tables that show them, scenario by scenario.
//
// Units    sizes in IEC units, rates in SI units, durations in a suitable unit. Every figure is a median over the
//          repetitions unless its heading says otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// The run as a whole: whether it ran, whether all assertions held, where its figures come from, and its warnings.
[[nodiscard]] Opening run_opening(const model::RunReport& report);

[[nodiscard]] std::vector<Fact> run_facts(const model::RunReport& report);      // scenario, command, times, seed, tool
[[nodiscard]] std::string harness_line(const model::Calibration& calibration);  // empty: not measured
[[nodiscard]] std::string streaming_line(const model::Calibration& calibration);    // empty: not measured
[[nodiscard]] std::string duet_line(const std::vector<std::uint32_t>& processors);  // empty: no processors
[[nodiscard]] std::vector<Fact> machine_facts(const model::Machine& machine);       // facts on which the figures depend
[[nodiscard]] std::string machine_line(const model::Machine& machine);              // these facts in one sentence

// Groups warnings by code and hint, in order of appearance. The groups refer to the report.
[[nodiscard]] std::vector<WarningGroup> warning_groups(const model::RunReport& report);

}  // namespace memsweep::reporters
