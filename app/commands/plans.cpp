#include "app/commands/plans.hpp"

#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <re2/re2.h>

#include "app/cli/command_line.hpp"
#include "app/commands/shipped.hpp"
#include "app/commands/this_machine.hpp"
#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"

namespace memsweep::app {
namespace {

// Rough on purpose: a worker's start, and memory written at the pace of first touches on a small virtual machine.
constexpr double worker_seconds = 0.03;
constexpr double written_bytes_per_second = 2e9;

}  // namespace

scenarios::Loaded load_scenario(const std::string& name, const scenarios::Overrides& overrides,
                                const scenarios::Surroundings& around)
{
    scenarios::Loaded plan = scenarios::load(scenario_path(name), overrides, around);
    if (!plan) {
        plan.error().front().message += scenario_hint(name);
    }
    return plan;
}

LoadedPlans load_plans(const std::vector<std::string>& names, const scenarios::Overrides& overrides,
                       const model::Machine& machine, const std::function<std::string(const model::Plan&)>& objection)
{
    const scenarios::Surroundings around = surroundings(machine);
    LoadedPlans loaded;
    for (const std::string& name : names) {
        scenarios::Loaded plan = load_scenario(name, overrides, around);
        if (!plan) {
            std::ranges::move(plan.error(), std::back_inserter(loaded.errors));
        } else if (std::string why = objection ? objection(*plan) : ""; !why.empty()) {
            loaded.errors.push_back({base::ErrorCode::invalid_input, std::move(why), name});
        } else {
            loaded.plans.push_back(*std::move(plan));
        }
    }
    return loaded;
}

base::Expected<IdMatcher> id_matcher(const std::string& expression)
{
    RE2::Options options;
    options.set_log_errors(false);
    const auto wanted = std::make_shared<const RE2>(expression, options);
    if (!wanted->ok()) {
        constexpr std::size_t most_shown = 80;
        const bool is_long = expression.size() > most_shown;
        return refuse(fmt::format("\"{}{}\" is not a regular expression: {:.{}}", expression.substr(0, most_shown),
                                  is_long ? "..." : "", wanted->error(), most_shown),
                      "--filter");
    }
    return IdMatcher{[wanted](const std::string& id) { return RE2::PartialMatch(id, *wanted); }};
}

ExpectedTime expected_time(const model::Plan& plan, std::uint64_t budget_bytes)
{
    const double turns = plan.settings.repetitions + plan.settings.warmup;
    const auto peaks = model::estimated_peaks_bytes(plan.cases, budget_bytes);
    ExpectedTime expected;
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
        const model::Case& one = plan.cases[i];
        if (one.command()) {
            expected.processes += turns;
            expected.is_open = true;
        } else if (peaks[i] <= budget_bytes) {
            const auto written = static_cast<double>(model::written_bytes(one.steps()));
            expected.seconds +=
                turns * (worker_seconds + model::idle_seconds(one.steps()) + written / written_bytes_per_second);
            expected.processes += turns;
            expected.is_open = expected.is_open || model::replays_or_transfers(one.steps());
        }
    }
    return expected;
}

std::string dry_run_text(const std::vector<model::Plan>& plans, std::uint64_t budget_bytes)
{
    std::string text;
    ExpectedTime all;
    for (const model::Plan& plan : plans) {
        text += fmt::format("{}: {}, {} after {} warm-up, {} order, isolation {}\n", base::printable(plan.name),
                            measure::counted(plan.cases.size(), "case"),
                            measure::counted(plan.settings.repetitions, "repetition"), plan.settings.warmup,
                            name_of(plan.settings.order), name_of(plan.settings.isolation));
        const auto peaks = model::estimated_peaks_bytes(plan.cases, budget_bytes);
        for (std::size_t i = 0; i < plan.cases.size(); ++i) {
            const model::Case& one = plan.cases[i];
            if (one.command()) {
                text +=
                    fmt::format("  {}: runs a program, whose memory and time are not known\n", base::printable(one.id));
                continue;
            }
            text += fmt::format("  {}: holds up to {}, writes {} per repetition{}\n", base::printable(one.id),
                                base::format_size(peaks[i]), base::format_size(model::written_bytes(one.steps())),
                                peaks[i] > budget_bytes ? fmt::format("; above the budget of {}, would be skipped",
                                                                      base::format_size(budget_bytes))
                                                        : "");
        }
        const ExpectedTime expected = expected_time(plan, budget_bytes);
        all.seconds += expected.seconds;
        all.processes += expected.processes;
        all.is_open = all.is_open || expected.is_open;
    }
    if (all.is_open) {
        return text + fmt::format("at least {} in all, for waiting, settling and {} starts of a process; programs, "
                                  "replays and transfers take their time on top\n",
                                  base::format_duration(all.seconds), base::format_count(all.processes));
    }
    return text + fmt::format("about {} in all\n", base::format_duration(all.seconds));
}

}  // namespace memsweep::app
