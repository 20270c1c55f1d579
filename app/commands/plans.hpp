// The plans of a command: loading them, reducing them to the requested cases, and describing them for a dry run.
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
    std::vector<base::Error> errors;  // in all files, in their order; empty: all plans are loaded
};

// One scenario, as load_plans finds it.
[[nodiscard]] scenarios::Loaded load_scenario(const std::string& name, const scenarios::Overrides& overrides,
                                              const scenarios::Surroundings& around);

// Scenarios by file or by the name of one that ships. `objection`: why a plan is of no use here; empty: it is of use.
[[nodiscard]] LoadedPlans load_plans(const std::vector<std::string>& names, const scenarios::Overrides& overrides,
                                     const model::Machine& machine,
                                     const std::function<std::string(const model::Plan&)>& objection = {});

// Whether the id of a case matches --filter, a regular expression as RE2 reads it, anywhere in the id.
//
// Errors   invalid_input: not a regular expression, or one that takes more than RE2's memory (8 MiB).
// Cost     of a match: linear in the length of the id, for any expression.
using IdMatcher = std::function<bool(const std::string& id)>;
[[nodiscard]] base::Expected<IdMatcher> id_matcher(const std::string& expression);

// The approximate time of a run: for writing, waiting, settling and starts of processes.
struct ExpectedTime {
    double seconds{};
    double processes{};
    bool is_open{};  // programs, replays and transfers take their time on top
};
[[nodiscard]] ExpectedTime expected_time(const model::Plan& plan, std::uint64_t budget_bytes);

// The work of a run before it starts: its cases, the memory that each may hold at once, and its approximate time.
[[nodiscard]] std::string dry_run_text(const std::vector<model::Plan>& plans, std::uint64_t budget_bytes);

}  // namespace memsweep::app
