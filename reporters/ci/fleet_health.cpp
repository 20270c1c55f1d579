#include "reporters/ci/fleet_health.hpp"

#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json evidence_of(const FleetReport& report, const measure::Outlier& outlier)
{
    const model::FleetMetric& metric = report.fleet->metrics[outlier.metric];
    return {{"kind", "outlier"},
            {"case", json_text(metric.case_id)},
            {"metric", json_text(metric.name)},
            {"unit", json_text(model::name_of(metric.unit))},
            {"value", json_number(outlier.value)},
            {"usual", json_number(outlier.median)},
            {"z", json_number(outlier.z)},
            {"q", json_number(outlier.q)},
            {"text", json_text(measure::outlier_text(*report.fleet, outlier))}};
}

void write_line(const std::string& host, Json evidence, TextSink& sink)
{
    const Json line{{"host", json_text(host)}, {"healthy", false}, {"evidence", std::move(evidence)}};
    sink.add(compact(line) + "\n");
}

}  // namespace

void write_health(const FleetReport& report, TextSink& sink)
{
    const model::Fleet& fleet = *report.fleet;
    for (const std::string& name : fleet.missing) {
        write_line(name, Json::array({{{"kind", "missing"}, {"text", "no result of it came"}}}), sink);
    }
    for (const measure::BadHost& bad : report.judgement.bad) {
        const model::FleetHost& host = fleet.hosts[bad.host];
        Json evidence = Json::array();
        if (host.interrupted) {
            evidence.push_back({{"kind", "unfinished"}, {"text", "its run did not finish"}});
        }
        for (const model::FleetProblem& problem : host.problems) {
            evidence.push_back({{"kind", "case"},
                                {"case", json_text_or_null(problem.case_id)},
                                {"status", json_text(model::name_of(problem.status))},
                                {"text", json_text(problem.reason)}});
        }
        for (const std::size_t index : bad.outliers) {
            evidence.push_back(evidence_of(report, report.judgement.outliers[index]));
        }
        write_line(host.name, std::move(evidence), sink);
    }
}

}  // namespace memsweep::reporters
