// `run --against --stacks`: finds the call sites that make the change. After the rounds both programs are recorded with
// all their call stacks, in turns, until their own noise is known.
//
// Cost     two recorded runs of each program, five if something varies from run to run, and reading their traces.
// Memory   one trace at a time, in the folder for temporary files; the stacks of all runs.
// Errors   none: SiteComparison::reason says why no site is named, and the measurements stand.
#pragma once

#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::app {

// One comparison for each case of the base that has a counterpart. `recorder`: the library that records, or why there
// is none.
[[nodiscard]] std::vector<model::SiteComparison> compare_call_sites(const model::Plan& plan,
                                                                    const model::RunReport& report,
                                                                    const base::Expected<std::string>& recorder,
                                                                    const sys::StopSignals& signals);

// A warning for each comparison that names no site, with its reason.
[[nodiscard]] std::vector<model::Warning> site_warnings(const std::vector<model::SiteComparison>& sites);

}  // namespace memsweep::app
