#include "core/probe/probe_case.hpp"

#include <algorithm>
#include <utility>

#include "core/base/assert.hpp"
#include "core/measure/summary.hpp"
#include "core/model/plan.hpp"

namespace memsweep::probe {

const sys::NumaNode* first_with_cpus(const std::vector<sys::NumaNode>& nodes)
{
    const auto found = std::ranges::find_if(nodes, [](const sys::NumaNode& node) { return !node.cpus.empty(); });
    return found == nodes.end() ? nullptr : &*found;
}

const sys::NumaNode* first_with_memory(const std::vector<sys::NumaNode>& nodes)
{
    const auto found = std::ranges::find_if(nodes, [](const sys::NumaNode& node) { return node.memory_bytes != 0; });
    return found == nodes.end() ? nullptr : &*found;
}

std::string page_word(model::PageKind pages)
{
    switch (pages) {
    case model::PageKind::huge_2m:
        return "hugetlb_2m";
    case model::PageKind::huge_1g:
        return "hugetlb_1g";
    case model::PageKind::system:
    case model::PageKind::small:
    case model::PageKind::thp:
        break;
    }
    return std::string{model::name_of(pages)};
}

model::CaseReport new_case(std::string scenario, std::vector<model::Param> params)
{
    std::ranges::sort(params, {}, &model::Param::name);
    model::CaseReport report;
    report.id = model::case_id(scenario, params);
    report.scenario = std::move(scenario);
    report.params = std::move(params);
    return report;
}

void set_values(model::CaseReport& report, std::string_view metric, const std::vector<double>& values)
{
    const model::MetricInfo* const info = model::find_metric(model::metric_catalog(), metric);
    MEMSWEEP_ASSERT(info != nullptr, "a metric of the catalog");
    model::Metric made;
    made.name = info->name;
    made.unit = info->unit;
    made.better = info->better;
    made.metric_class = info->metric_class;
    made.provenance = info->provenance;
    made.values.assign(values.begin(), values.end());
    made.summary = measure::summarize(made.values);
    report.repetitions = static_cast<std::uint32_t>(values.size());
    report.metrics.push_back(std::move(made));
}

void set_fact(model::CaseReport& report, std::string name, model::Scalar value)
{
    report.facts.push_back({std::move(name), std::move(value)});
}

void set_placement(model::CaseReport& report, const sys::PlacementProof& proof)
{
    set_fact(report, "placement", proof.text);
    if (proof.wrong && report.status == model::Status::ok) {
        fail(report, "the memory is not where it was bound to: " + proof.text);
    }
}

void skip(model::CaseReport& report, std::string reason)
{
    report.status = model::Status::skipped;
    report.reason = std::move(reason);
}

void skip_interrupted(model::CaseReport& report)
{
    skip(report, "interrupted before its first sample");
}

void fail(model::CaseReport& report, std::string reason)
{
    report.status = model::Status::failed;
    report.reason = std::move(reason);
}

void set_error(model::CaseReport& report, const base::Error& error)
{
    const bool unmet = error.code == base::ErrorCode::not_supported || error.code == base::ErrorCode::budget;
    report.status = unmet ? model::Status::skipped : model::Status::error;
    report.reason = base::describe(error);
}

}  // namespace memsweep::probe
