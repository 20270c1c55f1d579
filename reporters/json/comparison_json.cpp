// What is compared: two results, many results of one scenario, two runs of a fleet.

#include "core/model/machine.hpp"
#include "reporters/json/result_members.hpp"
#include "reporters/json/subject_json.hpp"

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
    return {{"name", json_text(side.name)},
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

Json shift_json(const measure::Shift& shift)
{
    return {{"kind", shift.is_ratio ? "ratio" : "difference"},
            {"estimate", json_number(shift.estimate)},
            {"ci95", json_interval(shift.interval)}};
}

Json threshold_json(const measure::Threshold& threshold)
{
    return {{"relative", json_number(threshold.relative)}, {"absolute", json_number(threshold.absolute)}};
}

Json text_of(const measure::Finding& finding)
{
    return json_text(finding.text);
}

Json tool_json(const model::ToolInfo& tool)
{
    return {{"name", json_text(tool.name)}, {"version", json_text(tool.version)}};
}

Json json_values(std::uint64_t n, std::optional<double> median)
{
    return {{"n", n}, {"median", json_number(median)}};
}

Json json_judgement(const ComparisonReport& report, const Comparison& comparison, const MetricComparison& metric)
{
    const measure::ComparedCase& one = comparison.cases[metric.pair];
    Json json = {{"scenario", json_text(one.scenario)},
                 {"base_case", json_text_or_null(one.base_id)},
                 {"candidate_case", json_text_or_null(one.candidate_id)},
                 {"metric", json_text_or_null(metric.metric)},
                 {"verdict", json_value(metric.verdict)},
                 {"gates", report.gate && measure::gates(metric.verdict)},
                 {"why", json_text(metric.why)}};
    if (!metric.metric.empty()) {
        json["unit"] = json_value(metric.unit);
        json["better"] = json_value(metric.better);
        json["class"] = json_value(metric.metric_class);
        json["base"] = json_values(metric.base_n, metric.base_median);
        json["candidate"] = json_values(metric.candidate_n, metric.candidate_median);
        json["effect"] = metric.shift ? shift_json(*metric.shift) : Json(nullptr);
        json["p"] = json_number(metric.p);
        json["q"] = json_number(metric.q);
        json["threshold"] = threshold_json(metric.threshold);
    }
    if (report.explain) {
        json["explanation"] = json_texts(measure::explanation(metric, comparison.noisy_metrics));
    }
    return json;
}

std::string_view outcome_name(measure::Outcome outcome)
{
    switch (outcome) {
    case measure::Outcome::regressed:
        return "regressed";
    case measure::Outcome::no_verdict:
        return "no-verdict";
    case measure::Outcome::passed:
        break;
    }
    return "passed";
}

Json json_comparison(const ComparisonReport& report, const Comparison& comparison)
{
    Json judgements = Json::array();
    for (const MetricComparison* metric : shown(report, comparison)) {
        judgements.push_back(json_judgement(report, comparison, *metric));
    }
    return {{"base", json_side(comparison.base)},
            {"candidate", json_side(comparison.candidate)},
            {"between", comparison.is_between},
            {"outcome", json_text(outcome_name(measure::outcome(comparison)))},
            {"overruled", json_texts(comparison.overruled)},
            {"noisy_metrics", comparison.noisy_metrics},
            {"counts", json_verdict_counts(comparison)},
            {"findings", json_list(comparison.findings, text_of)},
            {"judgements", std::move(judgements)}};
}

Json json_history_run(const measure::HistoryRun& run)
{
    return {{"name", json_text(run.name)}, {"run_id", json_text(run.id)},       {"started", json_text(run.started)},
            {"host", json_text(run.host)}, {"version", json_text(run.version)}, {"interrupted", run.interrupted}};
}

Json json_point(const std::optional<measure::TrendPoint>& point)
{
    if (!point) {
        return nullptr;
    }
    return {{"n", point->n}, {"median", json_number(point->median)}, {"ci95", json_interval(point->ci95)}};
}

Json json_level_change(const Change& change)
{
    return {{"run", change.run},
            {"verdict", json_value(change.verdict)},
            {"before", json_number(change.before)},
            {"after", json_number(change.after)},
            {"effect", shift_json(change.shift)},
            {"q", json_number(change.q)},
            {"why", json_text(change.why)}};
}

Json json_trend(const Trend& trend)
{
    return {{"scenario", json_text(trend.scenario)},
            {"case", json_text(trend.case_id)},
            {"metric", json_text(trend.metric)},
            {"unit", json_value(trend.unit)},
            {"better", json_value(trend.better)},
            {"class", json_value(trend.metric_class)},
            {"threshold", threshold_json(trend.threshold)},
            {"points", json_list(trend.points, json_point)},
            {"changes", json_list(trend.changes, json_level_change)},
            {"reason", json_text_or_null(trend.why)}};
}

Json json_history(const History& history)
{
    return {{"scenario", json_text(history.scenario)},
            {"scenario_fingerprint", json_text(history.scenario_fingerprint)},
            {"machine", json_text(history.machine)},
            {"machine_fingerprint", json_text(history.machine_fingerprint)},
            {"runs", json_list(history.runs, json_history_run)},
            {"noisy_metrics", history.judged},
            {"findings", json_list(history.findings, text_of)},
            {"trends", json_list(history.trends, json_trend)}};
}

Json json_fleet_change(const FleetChange& change)
{
    return {{"scenario", json_text(change.scenario)},
            {"case", json_text(change.case_id)},
            {"metric", json_text(change.metric)},
            {"unit", json_value(change.unit)},
            {"hosts", change.hosts},
            {"base", json_number(change.base)},
            {"candidate", json_number(change.candidate)},
            {"effect", shift_json(change.shift)},
            {"q", json_number(change.q)},
            {"verdict", json_value(change.verdict)},
            {"why", json_text(change.why)}};
}

Json json_outlying(const HostChange& one)
{
    return {{"host", json_text(one.host)},
            {"case", json_text(one.case_id)},
            {"metric", json_text(one.metric)},
            {"unit", json_value(one.unit)},
            {"base", json_number(one.base)},
            {"candidate", json_number(one.candidate)},
            {"usual_ratio", json_number(one.usual)},
            {"z", json_number(one.z)},
            {"q", json_number(one.q)},
            {"worse", one.is_worse}};
}

Json json_fleet_trend(const FleetTrend& trend)
{
    return {{"base", json_text(trend.base_name)},
            {"candidate", json_text(trend.candidate_name)},
            {"hosts", trend.hosts},
            {"newly_bad", json_texts(trend.newly_bad)},
            {"recovered", json_texts(trend.recovered)},
            {"still_bad", json_texts(trend.still_bad)},
            {"gone", json_texts(trend.gone)},
            {"added", json_texts(trend.added)},
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
                           {"left_out", json_texts(report.histories.left_out)}};
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
