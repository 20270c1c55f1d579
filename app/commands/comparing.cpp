#include "app/commands/comparing.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/commands/results.hpp"
#include "app/commands/shipped.hpp"
#include "core/measure/likeness.hpp"
#include "scenarios/reader/criteria_files.hpp"

namespace memsweep::app {
namespace {

// The run has no cases yet: the plan names them.
measure::ScenarioFacts facts_of(const model::RunReport& run, const model::Plan& plan)
{
    measure::ScenarioFacts facts = measure::scenario_facts(run);
    for (const model::Case& one : plan.cases) {
        facts.cases.emplace(one.id, one.fingerprint);
        if (one.command() && !one.command()->input_contents.empty()) {
            facts.inputs.emplace(one.id, one.command()->input_contents);
        }
    }
    return facts;
}

}  // namespace

std::optional<measure::Criteria> gate_criteria(const std::string& gate)
{
    if (gate.empty()) {
        return measure::Criteria{};
    }
    auto loaded = scenarios::load_gate(gate_path(gate));
    if (loaded) {
        return *std::move(loaded);
    }
    loaded.error().front().message += gate_hint(gate);
    print_places(loaded.error());
    return std::nullopt;
}

std::optional<measure::Criteria> gate_criteria(const std::string& gate,
                                               const std::map<std::string, std::string>& thresholds)
{
    auto criteria = gate_criteria(gate);
    bool valid = criteria.has_value();
    for (const auto& [name, text] : thresholds) {
        const model::MetricInfo* const metric = model::find_metric(model::metric_catalog(), name);
        const auto threshold = metric == nullptr
                                   ? base::fail(base::ErrorCode::invalid_input,
                                                "there is no such metric; memsweep list metrics names them")
                                   : measure::parse_threshold(text, metric->unit);
        if (!threshold) {
            print_error({base::ErrorCode::invalid_input, fmt::format("{}: {}", name, threshold.error().message),
                         "--threshold"});
            valid = false;
        } else if (criteria) {
            criteria->thresholds.insert_or_assign(name, *threshold);
        }
    }
    return valid ? criteria : std::nullopt;
}

void note_unjudged(const std::map<std::string, std::string>& thresholds,
                   std::span<const measure::Comparison> comparisons)
{
    for (const auto& [name, text] : thresholds) {
        const bool is_judged = std::ranges::any_of(comparisons, [&](const measure::Comparison& one) {
            return std::ranges::any_of(one.metrics, [&](const measure::MetricComparison& metric) {
                return metric.metric == name && metric.verdict != measure::Verdict::informational;
            });
        });
        if (!is_judged) {
            const std::string_view why = comparisons.empty() ? "nothing was compared"
                                                             : "no case that was compared has this metric, or it is "
                                                               "left out or only shown";
            print_note(fmt::format("--threshold {}={} judged nothing: {}", name, text, why));
        }
    }
}

base::Expected<measure::Comparison> compare_named(const NamedResult& base, const NamedResult& candidate,
                                                  const measure::Criteria& criteria, bool force)
{
    const std::string machines = measure::compared_machines(*base.report, *candidate.report);
    std::vector<std::string> unlike =
        machines.empty() ? measure::differences(*base.report, *candidate.report) : std::vector<std::string>{};
    if (!unlike.empty() && !force) {
        return refuse(fmt::format("not comparable with {}: {}; --force compares them all the same", base.name,
                                  fmt::join(unlike, "; ")),
                      candidate.name);
    }
    auto comparison = measure::compare_reports(*base.report, *candidate.report, criteria);
    if (!comparison) {
        return base::fail(comparison.error().code, comparison.error().message, candidate.name);
    }
    comparison->base.name = base.name;
    comparison->candidate.name = candidate.name;
    comparison->overruled = std::move(unlike);
    comparison->machines = machines;
    return comparison;
}

ExitCode exit_code_of(const measure::Comparison& comparison, bool gate)
{
    switch (measure::outcome(comparison)) {
    case measure::ComparisonOutcome::regressed:
        return gate ? ExitCode::finding : ExitCode::done;
    case measure::ComparisonOutcome::no_verdict:
        return ExitCode::no_verdict;
    case measure::ComparisonOutcome::passed:
        break;
    }
    return ExitCode::done;
}

base::Expected<Baseline> Baseline::open(const std::string& path, const model::RunReport& run, const model::Plan& plan,
                                        measure::Criteria criteria)
{
    model::RunReport result = MEMSWEEP_TRY(read_result(path));
    std::vector<std::string> unlike{measure::scenario_difference(measure::scenario_facts(result), facts_of(run, plan)),
                                    measure::machine_difference(result.machine, run.machine)};
    std::erase(unlike, std::string{});
    if (!unlike.empty()) {
        const std::string_view other_way =
            plan.path.empty() ? "; --against CMD -- CMD measures two programs in turns, with no baseline" : "";
        return refuse(fmt::format("not comparable with this run: {}{}", fmt::join(unlike, "; "), other_way), path);
    }
    return Baseline{path, std::move(result), std::move(criteria)};
}

base::Expected<measure::Comparison> Baseline::compare(const model::RunReport& report) const
{
    return compare_named({path, &result}, {"this run", &report}, criteria, false);
}

}  // namespace memsweep::app
