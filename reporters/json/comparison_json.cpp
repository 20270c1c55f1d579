#include "reporters/json/comparison_json.hpp"

#include "core/measure/comparison.hpp"
#include "reporters/json/json_parts.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

constexpr int comparison_version = 1;

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

Json json_effect(const MetricComparison& metric)
{
    if (!metric.shift) {
        return nullptr;
    }
    const measure::Shift& shift = *metric.shift;
    const Json interval = shift.interval
                              ? Json::array({json_number((*shift.interval)[0]), json_number((*shift.interval)[1])})
                              : Json(nullptr);
    return {{"kind", shift.is_ratio ? "ratio" : "difference"},
            {"estimate", json_number(shift.estimate)},
            {"ci95", interval}};
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
                 {"verdict", json_text(model::name_of(metric.verdict))},
                 {"gates", report.gate && measure::gates(metric.verdict)},
                 {"why", json_text(metric.why)}};
    if (!metric.metric.empty()) {
        json["unit"] = json_text(model::name_of(metric.unit));
        json["better"] = json_text(model::name_of(metric.better));
        json["class"] = json_text(model::name_of(metric.metric_class));
        json["base"] = json_values(metric.base_n, metric.base_median);
        json["candidate"] = json_values(metric.candidate_n, metric.candidate_median);
        json["effect"] = json_effect(metric);
        json["p"] = json_number(metric.p);
        json["q"] = json_number(metric.q);
        json["threshold"] = {{"relative", json_number(metric.threshold.relative)},
                             {"absolute", json_number(metric.threshold.absolute)}};
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
    Json findings = Json::array();
    for (const measure::Finding& finding : comparison.findings) {
        findings.push_back(json_text(finding.text));
    }
    return {{"base", json_side(comparison.base)},
            {"candidate", json_side(comparison.candidate)},
            {"between", comparison.is_between},
            {"outcome", json_text(outcome_name(measure::outcome(comparison)))},
            {"overruled", json_texts(comparison.overruled)},
            {"noisy_metrics", comparison.noisy_metrics},
            {"counts", json_verdict_counts(comparison)},
            {"findings", std::move(findings)},
            {"judgements", std::move(judgements)}};
}

}  // namespace

std::string to_json(const ComparisonReport& report)
{
    Json comparisons = Json::array();
    for (const Comparison& comparison : report.comparisons) {
        comparisons.push_back(json_comparison(report, comparison));
    }
    const Json document = {
        {"format", "memsweep-comparison"},
        {"format_version", comparison_version},
        {"tool", {{"name", json_text(report.tool.name)}, {"version", json_text(report.tool.version)}}},
        {"gate", report.gate},
        {"only_changed", report.only_changed},
        {"comparisons", std::move(comparisons)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
