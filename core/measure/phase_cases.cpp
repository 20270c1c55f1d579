#include "core/measure/phase_cases.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/assert.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Phase;

struct PhaseMetric {
    std::string_view name;
    std::optional<double> (*value)(const Phase&);
};

constexpr std::array<PhaseMetric, 6> phase_metrics{{
    {"wall_time", [](const Phase& one) -> std::optional<double> { return one.time; }},
    {"minor_faults", [](const Phase& one) -> std::optional<double> { return static_cast<double>(one.minor_faults); }},
    {"major_faults", [](const Phase& one) -> std::optional<double> { return static_cast<double>(one.major_faults); }},
    {"fault_time", [](const Phase& one) { return one.fault_time; }},
    {"allocator_time", [](const Phase& one) { return one.allocator_time; }},
    {"collector_wait_time", [](const Phase& one) { return one.collector_wait_time; }},
}};

model::Metric metric_of(const PhaseMetric& wanted, const CaseReport& report, const std::string& phase)
{
    const model::MetricInfo* const info = model::find_metric(model::metric_catalog(), wanted.name);
    MEMSWEEP_ASSERT(info != nullptr, "the metrics of phases are metrics of repetitions too");
    model::Metric metric;
    metric.name = wanted.name;
    metric.unit = info->unit;
    metric.better = info->better;
    metric.metric_class = info->metric_class;
    metric.provenance = info->provenance;
    metric.values.resize(report.repetitions);
    for (const Phase& one : report.phases) {
        if (one.name == phase && one.repetition < metric.values.size()) {
            metric.values[one.repetition] = wanted.value(one);
        }
    }
    metric.summary = summarize(metric.values);
    return metric;
}

CaseReport phase_case(const CaseReport& report, const std::string& phase)
{
    CaseReport one;
    one.scenario = report.scenario;
    one.params = report.params;
    one.params.push_back({std::string{phase_axis}, phase});
    one.id = model::case_id(one.scenario, one.params);
    one.release = report.release;
    one.status = report.status;
    one.reason = report.reason;
    one.repetitions = report.repetitions;
    one.planned_repetitions = report.planned_repetitions;
    one.operation = report.operation;
    for (const PhaseMetric& wanted : phase_metrics) {
        model::Metric metric = metric_of(wanted, report, phase);
        if (metric.summary) {
            one.metrics.push_back(std::move(metric));
        }
    }
    return one;
}

}  // namespace

model::RunReport by_phase(const model::RunReport& report)
{
    model::RunReport phases;
    phases.tool = report.tool;
    phases.run = report.run;
    phases.machine = report.machine;
    phases.calibration = report.calibration;
    phases.warnings = report.warnings;
    for (const CaseReport& one : report.cases) {
        std::vector<std::string> names;
        for (const Phase& phase : one.phases) {
            if (std::ranges::find(names, phase.name) == names.end()) {
                names.push_back(phase.name);
                phases.cases.push_back(phase_case(one, phase.name));
            }
        }
    }
    return phases;
}

bool has_phase_axis(const model::RunReport& report)
{
    return std::ranges::any_of(report.cases, [](const CaseReport& one) {
        return std::ranges::find(one.params, phase_axis, &model::Param::name) != one.params.end();
    });
}

}  // namespace memsweep::measure
