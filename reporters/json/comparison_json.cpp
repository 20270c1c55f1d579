// What is compared: two results, many results of one scenario, two runs of a fleet.

#include <cmath>

#include "core/model/machine.hpp"
#include "reporters/json/finding_values.hpp"
#include "reporters/json/result_members.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/wording/comparison_words.hpp"
#include "reporters/wording/history_words.hpp"
#include "reporters/wording/reason_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Change;
using measure::Comparison;
using measure::FleetChange;
using measure::FleetTrend;
using measure::History;
using measure::HostChange;
using measure::MetricComparison;
using measure::Trend;

Json json_side(const measure::Side& side)
{
    return {{"name", side.name},
            {"run_id", json_text_or_null(side.run_id)},
            {"started", json_text_or_null(side.started)},
            {"host", json_text_or_null(side.host)}};
}

Json json_verdict_counts(const Comparison& comparison)
{
    Json json = Json::object();
    for (const auto& verdict : model::names<measure::Verdict>()) {
        json[std::string{verdict.name}] = measure::count(comparison, verdict.value);
    }
    return json;
}

Json threshold_json(const measure::Threshold& threshold)
{
    Json json{{"relative", threshold.relative}, {"absolute", threshold.absolute}};
    if (std::isfinite(threshold.at_most)) {
        json["at_most"] = threshold.at_most;
    }
    return json;
}

Json tool_json(const model::ToolInfo& tool)
{
    return {{"name", tool.name}, {"version", tool.version}};
}

Json json_values(std::uint64_t n, std::optional<double> median)
{
    return {{"n", n}, {"median", median}};
}

Json json_judgement(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric)
{
    const measure::ComparedCase& one = comparison.cases[metric.pair];
    Json json = {{"scenario", one.scenario},
                 {"base_case", json_text_or_null(one.base_id)},
                 {"candidate_case", json_text_or_null(one.candidate_id)},
                 {"metric", json_text_or_null(metric.metric)},
                 {"verdict", metric.verdict},
                 {"gates", report.gate && measure::gates(metric.verdict)},
                 {"why", reason_text(metric.reason)}};
    if (!metric.metric.empty()) {
        json["unit"] = metric.unit;
        json["better"] = metric.better;
        json["class"] = metric.metric_class;
        json["base"] = json_values(metric.base_n, metric.base_median);
        json["candidate"] = json_values(metric.candidate_n, metric.candidate_median);
        json["effect"] = metric.shift ? shift_json(*metric.shift) : Json();
        json["p"] = metric.p;
        json["q"] = metric.q;
        json["threshold"] = threshold_json(metric.threshold);
    }
    if (report.explain) {
        json["explanation"] = explanation(metric, comparison.noisy_metrics);
    }
    return json;
}

constexpr std::array<std::string_view, 3> outcomes{"passed", "regressed",
                                                   "no-verdict"};  // indexed by measure::ComparisonOutcome

Json json_comparison(const ComparisonReport& report, const Comparison& comparison)
{
    Json judgements = Json::array();
    for (const MetricComparison* metric : shown(report, comparison)) {
        judgements.push_back(json_judgement(report, comparison, *metric));
    }
    Json json{{"base", json_side(comparison.base)},
              {"candidate", json_side(comparison.candidate)},
              {"between", comparison.is_between},
              {"outcome", outcomes[static_cast<std::size_t>(measure::outcome(comparison))]},
              {"overruled", comparison.overruled},
              {"machines", comparison.machines.empty() ? Json() : Json(comparison.machines)},
              {"noisy_metrics", comparison.noisy_metrics},
              {"counts", json_verdict_counts(comparison)},
              {"findings", json_list(comparison.findings, said)},
              {"finding_values", json_list(comparison.findings, finding_json)},
              {"judgements", std::move(judgements)}};
    if (!comparison.sites.empty()) {
        json["sites"] = json_value(comparison.sites);
    }
    return json;
}

Json json_history_run(const measure::HistoryRun& run)
{
    return {{"name", run.name}, {"run_id", run.id},       {"started", run.started},
            {"host", run.host}, {"version", run.version}, {"interrupted", run.interrupted}};
}

Json json_point(const std::optional<measure::TrendPoint>& point)
{
    if (!point) {
        return nullptr;
    }
    return {{"n", point->n}, {"median", point->median}, {"ci95", point->ci95}};
}

Json json_level_change(const Change& change)
{
    return {{"run", change.run},
            {"verdict", change.verdict},
            {"before", change.before},
            {"after", change.after},
            {"effect", shift_json(change.shift)},
            {"q", change.q},
            {"why", reason_text(change.reason)}};
}

Json json_trend(const Trend& trend)
{
    return {{"scenario", trend.scenario},
            {"case", trend.case_id},
            {"metric", trend.metric},
            {"unit", trend.unit},
            {"better", trend.better},
            {"class", trend.metric_class},
            {"threshold", threshold_json(trend.threshold)},
            {"points", json_list(trend.points, json_point)},
            {"changes", json_list(trend.changes, json_level_change)},
            {"reason", json_text_or_null(too_few_text(trend))}};
}

Json json_history(const History& history)
{
    return {{"scenario", history.scenario},
            {"scenario_fingerprint", history.scenario_fingerprint},
            {"machine", history.machine},
            {"machine_fingerprint", history.machine_fingerprint},
            {"runs", json_list(history.runs, json_history_run)},
            {"noisy_metrics", history.judged},
            {"findings", json_list(history.findings, said)},
            {"finding_values", json_list(history.findings, finding_json)},
            {"trends", json_list(history.trends, json_trend)}};
}

Json json_fleet_change(const FleetChange& change)
{
    return {{"scenario", change.scenario},
            {"case", change.case_id},
            {"metric", change.metric},
            {"unit", change.unit},
            {"hosts", change.hosts},
            {"base", change.base},
            {"candidate", change.candidate},
            {"effect", shift_json(change.shift)},
            {"q", change.q},
            {"verdict", change.verdict},
            {"why", reason_text(change.reason)}};
}

Json json_outlying(const HostChange& one)
{
    return {{"host", one.host}, {"case", one.case_id},        {"metric", one.metric},     {"unit", one.unit},
            {"base", one.base}, {"candidate", one.candidate}, {"usual_ratio", one.usual}, {"z", one.z},
            {"q", one.q},       {"worse", one.is_worse}};
}

Json json_fleet_trend(const FleetTrend& trend)
{
    return {{"base", trend.base_name},
            {"candidate", trend.candidate_name},
            {"hosts", trend.hosts},
            {"newly_bad", trend.newly_bad},
            {"recovered", trend.recovered},
            {"still_bad", trend.still_bad},
            {"gone", trend.gone},
            {"added", trend.added},
            {"changes", json_list(trend.changes, json_fleet_change)},
            {"outlying", json_list(trend.outlying, json_outlying)}};
}

}  // namespace

std::string to_json(const ComparisonReport& report)
{
    const Json document = {
        {"format", "memsweep-comparison"},
        {"format_version", 1},
        {"tool", tool_json(report.tool)},
        {"gate", report.gate},
        {"only_changed", report.only_changed},
        {"comparisons", json_list(report.comparisons, [&](const auto& one) { return json_comparison(report, one); })}};
    return pretty(document) + "\n";
}

std::string to_json(const HistoryReport& report)
{
    const Json document = {{"format", "memsweep-history"},
                           {"format_version", 1},
                           {"tool", tool_json(report.tool)},
                           {"histories", json_list(report.histories.histories, json_history)},
                           {"left_out", json_list(report.histories.left_out, left_out_text)}};
    return pretty(document) + "\n";
}

std::string to_json(const FleetTrendReport& report)
{
    const Json document{{"format", "memsweep-fleet-trend"},
                        {"format_version", 1},
                        {"tool", json_value(model::this_tool())},
                        {"trends", json_list(report.trends, json_fleet_trend)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
