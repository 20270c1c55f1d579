#include "core/transfer/probe.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/measure/summary.hpp"
#include "core/model/plan.hpp"

namespace memsweep::transfer {

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

void skip(model::CaseReport& report, std::string reason)
{
    report.status = model::Status::skipped;
    report.reason = std::move(reason);
}

void blame(model::CaseReport& report, const base::Error& error)
{
    const bool unmet = error.code == base::ErrorCode::not_supported || error.code == base::ErrorCode::budget;
    report.status = unmet ? model::Status::skipped : model::Status::error;
    report.reason = base::describe(error);
}

PlacementProof placement_proof(const base::Expected<sys::PagesByNode>& pages, std::optional<std::uint32_t> asked)
{
    if (!pages) {
        return {.text = "not proven: " + base::describe(pages.error())};
    }
    if (pages->not_resident != 0) {
        return {.text = fmt::format("not proven: {} pages are not resident", pages->not_resident)};
    }
    std::string text;
    std::uint64_t elsewhere = 0;
    for (const auto& [node, count] : pages->pages) {
        text += fmt::format("{}{} pages on node {}", text.empty() ? "" : ", ", count, node);
        elsewhere += asked && node != *asked ? count : 0;
    }
    return {.text = fmt::format("{} (move_pages)", text), .wrong = elsewhere != 0};
}

}  // namespace memsweep::transfer
