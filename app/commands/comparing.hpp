// Parts that `compare` and `run --baseline` share: the criteria, the comparison of two results, its exit code, and the
// baseline.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/measure/comparison.hpp"
#include "core/model/plan.hpp"
#include "core/model/report.hpp"

namespace memsweep::app {

// Reads a gate file. `gate`: its path, or the name of a shipped gate file (configs/gates/NAME.json); empty: the default
// criteria. On errors prints them and returns nullopt.
[[nodiscard]] std::optional<measure::Criteria> gate_criteria(const std::string& gate);

// Does the same, but thresholds of the command line replace those of the file. `thresholds`: by metric name. An unknown
// metric or a malformed threshold is an error, too.
[[nodiscard]] std::optional<measure::Criteria> gate_criteria(const std::string& gate,
                                                             const std::map<std::string, std::string>& thresholds);

// Prints a note for each threshold that judged nothing, because no case has its metric, or because its metric is not
// judged.
void note_unjudged(const std::map<std::string, std::string>& thresholds,
                   std::span<const measure::Comparison> comparisons);

struct NamedResult {
    std::string name;
    const model::RunReport* report;
};

// Compares two results. Results of `probe` may come from different machines; the comparison then says how the machines
// differ.
//
// Errors   invalid_input: the results are not comparable (the message says why; `force` overrules this), or have no
//          case in common.
[[nodiscard]] base::Expected<measure::Comparison> compare_named(const NamedResult& base, const NamedResult& candidate,
                                                                const measure::Criteria& criteria, bool force);

// Returns the exit code of a comparison. `gate`: whether a regression gives ExitCode::finding. If there are too few
// repetitions for a verdict, the code is `no_verdict`, whatever `gate` is.
[[nodiscard]] ExitCode exit_code_of(const measure::Comparison& comparison, bool gate);

// The earlier result that `run --baseline` compares a run with. An unsuitable baseline is refused before anything is
// measured.
struct Baseline {
    std::string path;
    model::RunReport result;
    measure::Criteria criteria;

    // Reads the baseline, and checks that a run can be compared with it. `run`: the report of `plan`; this
    // report has no cases yet.
    //
    // Errors   io: the baseline cannot be read; invalid_input: it is no result, or the result of another scenario or
    //          machine; the message says what differs.
    [[nodiscard]] static base::Expected<Baseline> open(const std::string& path, const model::RunReport& run,
                                                       const model::Plan& plan, measure::Criteria criteria);

    [[nodiscard]] base::Expected<measure::Comparison> compare(const model::RunReport& report) const;
};

}  // namespace memsweep::app
