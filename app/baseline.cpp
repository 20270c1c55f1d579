#include "app/baseline.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/comparing.hpp"
#include "app/read_result.hpp"
#include "app/terminal_style.hpp"
#include "core/measure/likeness.hpp"
#include "reporters/comparison_terminal.hpp"

namespace memsweep::app {
namespace {

// The run has no cases yet: the plan names them.
measure::ScenarioFacts facts_of(const model::RunReport& run, const model::Plan& plan)
{
    measure::ScenarioFacts facts = measure::scenario_facts(run);
    std::ranges::transform(plan.cases, std::back_inserter(facts.case_ids), &model::Case::id);
    return facts;
}

}  // namespace

base::Expected<Baseline> Baseline::open(const std::string& path, const model::RunReport& run, const model::Plan& plan,
                                        measure::Criteria criteria)
{
    auto result = read_result(path);
    if (!result) {
        return base::fail(result.error());
    }
    std::vector<std::string> unlike{measure::scenario_difference(measure::scenario_facts(*result), facts_of(run, plan)),
                                    measure::machine_difference(result->machine, run.machine)};
    std::erase(unlike, std::string{});
    if (!unlike.empty()) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("not comparable with this run: {}", fmt::join(unlike, "; ")), path);
    }
    Baseline baseline;
    baseline.path_ = path;
    baseline.result_ = *std::move(result);
    baseline.criteria_ = std::move(criteria);
    return baseline;
}

base::Expected<measure::Comparison> Baseline::compare(const model::RunReport& report) const
{
    return compare_named({path_, &result_}, {"this run", &report}, criteria_, false);
}

std::string baseline_text(const measure::Comparison& comparison, bool gate, const GlobalOptions& global)
{
    reporters::ComparisonReport report;
    report.comparisons = {comparison};
    report.gate = gate;
    report.only_changed = !global.verbose;
    return reporters::to_terminal(report, terminal_style(global));
}

std::string baseline_line(const measure::Comparison& comparison)
{
    return reporters::headline(comparison).text;
}

}  // namespace memsweep::app
