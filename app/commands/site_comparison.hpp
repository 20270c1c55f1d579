// `run --against --stacks`: finds the call sites behind a change. After the rounds, the two programs are recorded
// alternately with all call stacks, until it is known how much each program varies from run to run.
//
// Cost     two recorded runs of each program, or five if a program's runs differ; and one reading of each trace.
// Memory   the stacks of all runs; on disk one trace at a time, in the folder for temporary files.
// Errors   none: SiteComparison::reason says why no site is named. The measurements of the rounds stay valid.
#pragma once

#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::app {

// Returns one comparison for each case of the base program that has a counterpart, or fewer if a signal stops it.
// `recorder`: the path of the recorder's library, or the error if there is none.
[[nodiscard]] std::vector<model::SiteComparison> compare_call_sites(const model::Plan& plan,
                                                                    const model::RunReport& report,
                                                                    const base::Expected<std::string>& recorder,
                                                                    const sys::StopSignals& signals);

// Returns a warning for each comparison that names no site. The warning says why.
[[nodiscard]] std::vector<model::Warning> site_warnings(const std::vector<model::SiteComparison>& sites);

}  // namespace memsweep::app
