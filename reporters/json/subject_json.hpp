// Documents other than results, as JSON; docs/result-format.md describes each format. Fleets are in fleet_json.hpp,
// because they are also read back.
//
// Errors   none: text from outside is repaired to UTF-8, and a number that is not finite becomes null.
#pragma once

#include <string>

#include "core/trace/summary.hpp"
#include "reporters/document/advice.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/document/cliffs.hpp"
#include "reporters/document/comparison.hpp"
#include "reporters/document/doctor.hpp"
#include "reporters/document/explanation.hpp"
#include "reporters/document/fit.hpp"
#include "reporters/document/fleet_trend.hpp"
#include "reporters/document/history.hpp"
#include "reporters/document/leaks.hpp"
#include "reporters/document/profile_fit.hpp"
#include "reporters/document/pytorch_fit.hpp"
#include "reporters/document/site_return.hpp"

namespace memsweep::reporters {

// Each function returns one document that ends in a newline. The same report gives the same bytes.
[[nodiscard]] std::string to_json(const ComparisonReport& report);      // format memsweep-comparison, version 1
[[nodiscard]] std::string to_json(const HistoryReport& report);         // format memsweep-history, version 1
[[nodiscard]] std::string to_json(const FleetTrendReport& report);      // format memsweep-fleet-trend, version 1
[[nodiscard]] std::string to_json(const Checkup& checkup);              // format memsweep-doctor, version 1
[[nodiscard]] std::string to_json(const CliffsReport& report);          // format memsweep-cliffs, version 1
[[nodiscard]] std::string to_json(const ProfileReport& report);         // format memsweep-profile-fit, version 1
[[nodiscard]] std::string to_json(const FitReport& report);             // format memsweep-fit, version 1
[[nodiscard]] std::string to_json(const PyTorchFitReport& report);      // format memsweep-pytorch-fit, version 1
[[nodiscard]] std::string to_json(const trace::TraceSummary& summary);  // format memsweep-trace-summary, version 1
[[nodiscard]] std::string to_json(const CallSitesReport& report);       // format memsweep-call-sites, version 1
[[nodiscard]] std::string to_json(const LeaksReport& report);           // format memsweep-leaks, version 1
[[nodiscard]] std::string to_json(const Explanation& one);              // format memsweep-explain, version 1
[[nodiscard]] std::string to_json(const WhatIfReport& report);          // format memsweep-whatif, version 1
[[nodiscard]] std::string to_json(const AdviceReport& report);          // format memsweep-advice, version 1

}  // namespace memsweep::reporters
