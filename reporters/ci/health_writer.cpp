#include "reporters/ci/health_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/fleet.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

void write_health(const model::RunReport& report, TextSink& sink)
{
    Json evidence = Json::array();
    if (report.run.interrupted) {
        evidence.push_back({{"kind", "unfinished"}, {"text", "its run did not finish"}});
    }
    for (const model::FleetProblem& problem : measure::problems_of(report)) {
        evidence.push_back({{"kind", "case"},
                            {"case", json_text_or_null(problem.case_id)},
                            {"status", json_text(model::name_of(problem.status))},
                            {"text", json_text(problem.reason)}});
    }
    if (!evidence.empty()) {
        const Json line{{"host", json_text(measure::host_name(report))},
                        {"healthy", false},
                        {"run_id", json_text(report.run.id)},
                        {"evidence", std::move(evidence)}};
        sink.add(compact(line) + "\n");
    }
}

}  // namespace memsweep::reporters
