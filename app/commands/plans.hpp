// Loads the plans of a command, matches cases by --filter, and describes plans for a dry run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/model/machine.hpp"
#include "core/model/plan.hpp"
#include "scenarios/reader/loader.hpp"

namespace memsweep::app {

struct LoadedPlans {
    std::vector<model::Plan> plans;
    std::vector<base::Error> errors;  // of all files, in their order; empty: all plans are loaded
};

// Loads one scenario. `name`: a file, or the name of a shipped scenario.
[[nodiscard]] scenarios::Loaded load_scenario(const std::string& name, const scenarios::Overrides& overrides,
                                              const scenarios::Surroundings& around);

// Loads scenarios. `names`: files, or names of shipped scenarios. `objection`: a function that returns why this command
// cannot use a plan; an empty text: it can.
[[nodiscard]] LoadedPlans load_plans(const std::vector<std::string>& names, const scenarios::Overrides& overrides,
                                     const model::Machine& machine,
                                     const std::function<std::string(const model::Plan&)>& objection = {});

// Makes a function that tells whether --filter, a regular expression in RE2's syntax, matches anywhere in a case's id.
//
// Errors   invalid_input: the text is no regular expression, or it needs more memory than RE2's limit (8 MiB).
// Cost     a match is linear in the length of the id, for any expression.
using IdMatcher = std::function<bool(const std::string& id)>;
[[nodiscard]] base::Expected<IdMatcher> id_matcher(const std::string& expression);

// What a run is expected to take.
struct ExpectedTime {
    double seconds{};    // for writing memory and for waiting
    double processes{};  // how many processes are started
    bool is_open{};      // the run takes longer, by an unknown time, because it has programs, replays or transfers
};
[[nodiscard]] ExpectedTime expected_time(const model::Plan& plan, std::uint64_t budget_bytes);

// Describes a run that has not started: its cases, the most memory that each holds, and the approximate time.
[[nodiscard]] std::string dry_run_text(const std::vector<model::Plan>& plans, std::uint64_t budget_bytes);

}  // namespace memsweep::app
