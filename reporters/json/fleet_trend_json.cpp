#include "reporters/json/fleet_trend_json.hpp"

#include "core/model/tool_info.hpp"
#include "reporters/json/json_parts.hpp"

namespace memsweep::reporters {
namespace {

using measure::FleetChange;
using measure::FleetTrend;
using measure::HostChange;

Json json_fleet_change(const FleetChange& change)
{
    const auto& interval = change.shift.interval;
    return {{"scenario", json_text(change.scenario)},
            {"case", json_text(change.case_id)},
            {"metric", json_text(change.metric)},
            {"unit", json_text(model::name_of(change.unit))},
            {"hosts", change.hosts},
            {"base", json_number(change.base)},
            {"candidate", json_number(change.candidate)},
            {"effect",
             {{"kind", change.shift.is_ratio ? "ratio" : "difference"},
              {"estimate", json_number(change.shift.estimate)},
              {"ci95",
               interval ? Json::array({json_number((*interval)[0]), json_number((*interval)[1])}) : Json(nullptr)}}},
            {"q", json_number(change.q)},
            {"verdict", json_text(model::name_of(change.verdict))},
            {"why", json_text(change.why)}};
}

Json json_outlying(const HostChange& one)
{
    return {{"host", json_text(one.host)},
            {"case", json_text(one.case_id)},
            {"metric", json_text(one.metric)},
            {"unit", json_text(model::name_of(one.unit))},
            {"base", json_number(one.base)},
            {"candidate", json_number(one.candidate)},
            {"usual_ratio", json_number(one.usual)},
            {"z", json_number(one.z)},
            {"q", json_number(one.q)},
            {"worse", one.is_worse}};
}

Json json_trend(const FleetTrend& trend)
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

std::string to_json(const FleetTrendReport& report)
{
    const Json document{{"format", "memsweep-fleet-trend"},
                        {"format_version", 1},
                        {"tool", json_tool(model::this_tool())},
                        {"trends", json_list(report.trends, json_trend)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
