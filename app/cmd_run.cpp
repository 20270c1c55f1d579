#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "app/case_filter.hpp"
#include "app/commands.hpp"
#include "app/dry_run.hpp"
#include "app/run_session.hpp"
#include "app/shipped.hpp"
#include "app/this_machine.hpp"

namespace memsweep::app {
namespace {

constexpr std::uint32_t quick_repetitions = 1;

scenarios::Overrides effective_overrides(const RunCommand& command)
{
    scenarios::Overrides overrides = command.overrides;
    if (command.quick) {
        overrides.repetitions = overrides.repetitions.value_or(quick_repetitions);
        overrides.warmup = overrides.warmup.value_or(0);
    }
    return overrides;
}

// Every plan, or every error of every file on stderr.
std::optional<std::vector<model::Plan>> load_plans(const RunCommand& command, const model::Machine& machine)
{
    const scenarios::Surroundings around = surroundings(machine);
    std::vector<model::Plan> plans;
    bool failed = false;
    for (const std::string& path : command.scenarios) {
        scenarios::Loaded plan = scenarios::load(scenario_path(path), effective_overrides(command), around);
        if (plan) {
            plans.push_back(*std::move(plan));
            continue;
        }
        failed = true;
        for (const base::Error& error : plan.error()) {
            std::fprintf(stderr, "%s\n", base::describe(error).c_str());
        }
    }
    return failed ? std::nullopt : std::optional{std::move(plans)};
}

// Quick runs never gate: a single cold repetition may miss any threshold.
void only_warn(std::vector<model::Plan>& plans)
{
    for (model::Plan& plan : plans) {
        for (model::Assertion& assertion : plan.assertions) {
            assertion.severity = model::Severity::warn;
            assertion.abort = false;
        }
    }
}

// Results of one name would be written over each other.
bool names_repeat(const std::vector<model::Plan>& plans)
{
    std::set<std::string_view> names;
    for (const model::Plan& plan : plans) {
        if (!names.insert(plan.name).second) {
            print_error(
                {base::ErrorCode::invalid_input,
                 fmt::format("two scenarios are named \"{}\"; run them one by one, each with its own -o", plan.name),
                 plan.path});
            return true;
        }
    }
    return false;
}

// What several scenarios would write one after another must carry the scenario's name.
bool output_is_ambiguous(const RunCommand& command)
{
    const auto names_one_file = [](const std::string& path) {
        return !path.empty() && path != "-" && path.find("%s") == std::string::npos;
    };
    const bool shared =
        command.scenarios.size() > 1 &&
        (names_one_file(command.baseline) || (!command.out.empty() && command.out.find("%s") == std::string::npos) ||
         std::ranges::any_of(command.reports, names_one_file, &ReportTarget::path));
    if (shared) {
        print_error(
            {base::ErrorCode::invalid_input,
             "several scenarios need %s in the names of their results, reports and baselines, as in results/%s.json",
             "--out, --report, --baseline"});
    }
    return shared;
}

}  // namespace

ExitCode execute(const RunCommand& command, const GlobalOptions& global)
{
    const model::Machine machine = this_machine();
    auto plans = load_plans(command, machine);
    if (!plans || output_is_ambiguous(command) || names_repeat(*plans)) {
        return ExitCode::bad_input;
    }
    if (!command.filter.empty()) {
        if (const auto kept = keep_matching(*plans, command.filter); !kept) {
            print_error(kept.error());
            return ExitCode::bad_input;
        }
    }
    if (command.quick) {
        only_warn(*plans);
    }
    const engine::Capabilities has = capabilities(machine);
    const std::uint64_t budget = command.max_memory_bytes.value_or(has.memory_bytes / 5 * 4);
    if (command.dry_run) {
        return print_data(dry_run_text(*plans, budget)) ? ExitCode::done : ExitCode::bad_input;
    }
    RunSession session{command, global, machine, has, budget};
    ExitCode code = ExitCode::done;
    for (const model::Plan& plan : *plans) {
        code = worse(code, session.run(plan));
        if (code == ExitCode::interrupted || code == ExitCode::terminated) {
            break;
        }
    }
    return code;
}

}  // namespace memsweep::app
