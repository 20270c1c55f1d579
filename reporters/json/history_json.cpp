#include "reporters/json/history_json.hpp"

#include "reporters/json/json_parts.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

using measure::Change;
using measure::History;
using measure::Trend;

constexpr int history_version = 1;

Json json_run(const measure::HistoryRun& run)
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

Json json_change(const Change& change)
{
    return {{"run", change.run},
            {"verdict", json_text(model::name_of(change.verdict))},
            {"before", json_number(change.before)},
            {"after", json_number(change.after)},
            {"effect",
             {{"kind", change.shift.is_ratio ? "ratio" : "difference"},
              {"estimate", json_number(change.shift.estimate)},
              {"ci95", json_interval(change.shift.interval)}}},
            {"q", json_number(change.q)},
            {"why", json_text(change.why)}};
}

template <typename Items, typename Part>
Json json_array(const Items& items, Part part)
{
    Json json = Json::array();
    for (const auto& item : items) {
        json.push_back(part(item));
    }
    return json;
}

Json json_trend(const Trend& trend)
{
    return {
        {"scenario", json_text(trend.scenario)},
        {"case", json_text(trend.case_id)},
        {"metric", json_text(trend.metric)},
        {"unit", json_text(model::name_of(trend.unit))},
        {"better", json_text(model::name_of(trend.better))},
        {"class", json_text(model::name_of(trend.metric_class))},
        {"threshold",
         {{"relative", json_number(trend.threshold.relative)}, {"absolute", json_number(trend.threshold.absolute)}}},
        {"points", json_array(trend.points, json_point)},
        {"changes", json_array(trend.changes, json_change)},
        {"reason", json_text_or_null(trend.why)}};
}

Json json_history(const History& history)
{
    return {{"scenario", json_text(history.scenario)},
            {"scenario_fingerprint", json_text(history.scenario_fingerprint)},
            {"machine", json_text(history.machine)},
            {"machine_fingerprint", json_text(history.machine_fingerprint)},
            {"runs", json_array(history.runs, json_run)},
            {"noisy_metrics", history.judged},
            {"findings", json_array(history.findings, [](const auto& finding) { return json_text(finding.text); })},
            {"trends", json_array(history.trends, json_trend)}};
}

}  // namespace

std::string to_json(const HistoryReport& report)
{
    const Json document = {
        {"format", "memsweep-history"},
        {"format_version", history_version},
        {"tool", {{"name", json_text(report.tool.name)}, {"version", json_text(report.tool.version)}}},
        {"histories", json_array(report.histories.histories, json_history)},
        {"left_out", json_array(report.histories.left_out, [](const std::string& text) { return json_text(text); })}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
