#include "reporters/json/fleet_json.hpp"

#include <numeric>

#include <fmt/format.h>

#include "core/measure/fleet_judgement.hpp"
#include "reporters/json/json_parts.hpp"
#include "reporters/text/json_stream.hpp"

namespace memsweep::reporters {
namespace {

using measure::FleetJudgement;
using model::Fleet;

constexpr int fleet_version = 1;

Json json_problem(const model::FleetProblem& problem)
{
    return {{"case", json_text_or_null(problem.case_id)},
            {"status", json_text(model::name_of(problem.status))},
            {"reason", json_text(problem.reason)}};
}

Json json_host(const model::FleetHost& host)
{
    return {{"name", json_text(host.name)},
            {"sources", json_texts(host.sources)},
            {"run_ids", json_texts(host.run_ids)},
            {"started", json_text(host.started)},
            {"ended", json_text_or_null(host.ended)},
            {"version", json_text(host.version)},
            {"exit_code", host.exit_code},
            {"interrupted", host.interrupted},
            {"machine", json_machine(host.machine)},
            {"tags", json_map(host.tags)},
            {"summary", json_counts(host.counts)},
            {"problems", json_list(host.problems, json_problem)}};
}

Json json_column(const std::vector<double>& column)
{
    Json json = Json::array();
    for (const double value : column) {
        json.push_back(json_number(value));
    }
    return json;
}

Json json_metric(const model::FleetMetric& metric)
{
    return {{"scenario", json_text(metric.scenario)},
            {"case", json_text(metric.case_id)},
            {"metric", json_text(metric.name)},
            {"unit", json_text(model::name_of(metric.unit))},
            {"better", json_text(model::name_of(metric.better))},
            {"class", json_text(model::name_of(metric.metric_class))},
            {"n", Json(metric.n)},
            {"median", json_column(metric.median)},
            {"mad", json_column(metric.mad)},
            {"low", json_column(metric.low)},
            {"high", json_column(metric.high)}};
}

Json json_matrix(const model::FleetMatrix& matrix)
{
    Json values = Json::array();
    for (const std::vector<double>& row : matrix.values) {
        values.push_back(json_column(row));
    }
    return {{"name", json_text(matrix.name)},
            {"unit", json_text(model::name_of(matrix.unit))},
            {"better", json_text(model::name_of(matrix.better))},
            {"hosts", json_texts(matrix.hosts)},
            {"values", std::move(values)}};
}

std::string_view rule_name(measure::PeerRule rule)
{
    return rule == measure::PeerRule::test ? "test" : rule == measure::PeerRule::few ? "few" : "counter";
}

Json json_outlier(const Fleet& fleet, const measure::Outlier& outlier)
{
    const model::FleetMetric& metric = fleet.metrics[outlier.metric];
    return {{"host", json_text(fleet.hosts[outlier.host].name)},
            {"case", json_text(metric.case_id)},
            {"metric", json_text(metric.name)},
            {"unit", json_text(model::name_of(metric.unit))},
            {"value", json_number(outlier.value)},
            {"median", json_number(outlier.median)},
            {"rule", rule_name(outlier.rule)},
            {"z", json_number(outlier.z)},
            {"q", json_number(outlier.q)},
            {"worse", outlier.is_worse}};
}

void write_judgement(const Fleet& fleet, const FleetJudgement& judgement, JsonStream& out)
{
    out.key("judgement");
    out.open_object();
    out.add("healthy", measure::is_healthy(fleet, judgement));
    out.add("tests", std::accumulate(judgement.tests.begin(), judgement.tests.end(), std::size_t{0}));
    out.add("kinds", json_texts(judgement.kinds));
    out.add_list("bad_hosts", judgement.bad,
                 [&](const measure::BadHost& bad) { return json_text(fleet.hosts[bad.host].name); });
    out.add_list("outliers", judgement.outliers,
                 [&](const measure::Outlier& outlier) { return json_outlier(fleet, outlier); });
    out.add_list("shared_tags", judgement.shared, [](const measure::SharedTag& tag) {
        return Json{{"tag", json_text(tag.name)},
                    {"value", json_text(tag.value)},
                    {"bad", tag.bad},
                    {"hosts", tag.hosts},
                    {"q", json_number(tag.q)}};
    });
    out.add_list("odd_facts", judgement.odd_facts, [&](const measure::OddFact& odd) {
        return Json{{"host", json_text(fleet.hosts[odd.host].name)},
                    {"fact", json_text(odd.fact)},
                    {"value", json_text(odd.value)},
                    {"usual", json_text(odd.usual)},
                    {"agreeing", odd.agreeing}};
    });
    out.add("unjudged", json_texts(judgement.unjudged));
    out.close();
}

}  // namespace

bool is_fleet(std::string_view text)
{
    constexpr std::size_t opening = 256;
    const std::string_view start = text.substr(0, opening);
    const std::size_t key = start.find("\"format\"");
    return key != std::string_view::npos && start.find("\"memsweep-fleet\"", key) != std::string_view::npos;
}

void write_fleet_json(const Fleet& fleet, TextSink& sink)
{
    JsonStream out{sink};
    out.open_object();
    out.add("format", "memsweep-fleet");
    out.add("format_version", fleet_version);
    out.add("tool", json_tool(fleet.tool));
    out.add("run", {{"id", json_text(fleet.id)},
                    {"started", json_text(fleet.started)},
                    {"ended", json_text_or_null(fleet.ended)},
                    {"argv", json_texts(fleet.argv)},
                    {"exit_code", fleet.exit_code},
                    {"scenario", json_text(fleet.scenario)},
                    {"description", json_text(fleet.description)},
                    {"fingerprint", json_text(fleet.scenario_fingerprint)}});
    out.add("expected", fleet.expected ? Json(*fleet.expected) : Json(nullptr));
    out.add("missing", json_texts(fleet.missing));
    out.add("warnings", json_list(fleet.warnings, json_warning));
    out.add_list("hosts", fleet.hosts, json_host);
    out.add_list("metrics", fleet.metrics, json_metric);
    out.add_list("matrices", fleet.matrices, json_matrix);
    write_judgement(fleet, measure::judge_fleet(fleet), out);
    out.close();
    sink.add("\n");
}

}  // namespace memsweep::reporters
