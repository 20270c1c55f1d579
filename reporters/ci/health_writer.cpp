#include <span>

#include "core/measure/fleet.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/json.hpp"
#include "reporters/wording/fleet_words.hpp"

namespace memsweep::reporters {
namespace {

Json outlier_evidence(const FleetReport& report, const measure::Outlier& outlier)
{
    const model::FleetMetric& metric = report.fleet->metrics[outlier.metric];
    return {{"kind", "outlier"},   {"case", metric.case_id}, {"metric", metric.name},
            {"unit", metric.unit}, {"value", outlier.value}, {"usual", outlier.median},
            {"z", outlier.z},      {"q", outlier.q},         {"text", outlier_text(*report.fleet, outlier)}};
}

Json run_evidence(bool interrupted, std::span<const model::FleetProblem> problems)
{
    Json evidence = Json::array();
    if (interrupted) {
        evidence.push_back({{"kind", "unfinished"}, {"text", "its run did not finish"}});
    }
    for (const model::FleetProblem& problem : problems) {
        evidence.push_back({{"kind", "case"},
                            {"case", json_text_or_null(problem.case_id)},
                            {"status", problem.status},
                            {"text", problem.reason}});
    }
    return evidence;
}

void write_bad_host(const std::string& host, Json evidence, TextSink& sink)
{
    const Json line{{"host", host}, {"healthy", false}, {"evidence", std::move(evidence)}};
    sink.add(compact(line) + "\n");
}

}  // namespace

void write_health(const model::RunReport& report, TextSink& sink)
{
    Json evidence = run_evidence(report.run.interrupted, measure::problems_of(report));
    if (!evidence.empty()) {
        const Json line{{"host", measure::host_name(report)},
                        {"healthy", false},
                        {"run_id", report.run.id},
                        {"evidence", std::move(evidence)}};
        sink.add(compact(line) + "\n");
    }
}

void write_health(const FleetReport& report, TextSink& sink)
{
    for (const std::string& name : report.fleet->missing) {
        write_bad_host(name, Json::array({{{"kind", "missing"}, {"text", "no result of it came"}}}), sink);
    }
    for (const measure::BadHost& bad : report.judgement.bad) {
        const model::FleetHost& host = report.fleet->hosts[bad.host];
        Json evidence = run_evidence(host.interrupted, host.problems);
        for (const std::size_t index : bad.outliers) {
            evidence.push_back(outlier_evidence(report, report.judgement.outliers[index]));
        }
        write_bad_host(host.name, std::move(evidence), sink);
    }
}

}  // namespace memsweep::reporters
