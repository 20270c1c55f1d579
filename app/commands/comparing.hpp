// Parts that `compare` and `run --baseline` share: the criteria, the comparison of two results, and its exit code. Also
// the baseline itself.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/measure/comparison.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

// A gate file by its path, or by the name of one that ships (configs/gates/NAME.json); the defaults if `gate` is empty.
// Returns nothing after its errors were printed.
[[nodiscard]] std::optional<measure::Criteria> gate_criteria(const std::string& gate);

// The default gate, or a gate file, with thresholds of the command line for metrics that memsweep knows. Returns
// nothing after the errors were printed.
[[nodiscard]] std::optional<measure::Criteria> gate_criteria(const std::string& gate,
                                                             const std::map<std::string, std::string>& thresholds);

struct NamedResult {
    std::string name;
    const model::RunReport* report;
};

// Compares two results. Probes of two machines count as alike; the comparison says how the machines differ.
//
// Errors   invalid_input: the two are not alike, with what differs (unless `force`), or no case is in both.
[[nodiscard]] base::Expected<measure::Comparison> compare_named(const NamedResult& base, const NamedResult& candidate,
                                                                const measure::Criteria& criteria, bool force);

// With the gate off, a regression is no finding. Too few repetitions for a verdict keep their exit code.
[[nodiscard]] ExitCode exit_code_of(const measure::Comparison& comparison, bool gate);

// `run --baseline`: the earlier result that a run is compared with. An unfit one is refused before anything is
// measured.
struct Baseline {
    std::string path;
    model::RunReport result;
    measure::Criteria criteria;

    // `run` is the report of `plan` before it has cases.
    //
    // Errors   io, invalid_input: unreadable, or of another scenario or machine, with what differs.
    [[nodiscard]] static base::Expected<Baseline> open(const std::string& path, const model::RunReport& run,
                                                       const model::Plan& plan, measure::Criteria criteria);

    [[nodiscard]] base::Expected<measure::Comparison> compare(const model::RunReport& report) const;
};

}  // namespace memsweep::app
