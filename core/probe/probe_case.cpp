#include "core/probe/probe_case.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"
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

bool set_samples(model::CaseReport& report, std::string_view metric, const std::vector<double>& values)
{
    if (values.empty()) {
        skip_interrupted(report);
    } else {
        set_values(report, metric, values);
    }
    return !values.empty();
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

std::string why_lost(const device::Runtime& runtime, std::string_view case_id)
{
    const auto why = runtime.lost();
    return why ? fmt::format("{} broke the driver's context of this process ({}): measure this one without it", case_id,
                             *why)
               : std::string{};
}

model::CaseReport transfer_case(const model::TransferSpec& spec, std::uint64_t bytes, std::size_t number,
                                std::size_t all)
{
    std::vector<model::Param> params{{"src", model::to_text(spec.src)},
                                     {"exe", model::to_text(spec.exe)},
                                     {"dst", model::to_text(spec.dst)},
                                     {"bytes", static_cast<std::int64_t>(bytes)}};
    if (all > 1) {
        params.push_back({"nr", static_cast<std::int64_t>(number + 1)});
    }
    return new_case("probe_transfer", std::move(params));
}

std::string unmet(const ProbeContext& context, const model::TransferSpec& spec)
{
    if (model::names_rank(spec)) {
        return "names a rank: one process alone has no other to reach";
    }
    std::string missing;
    for (const model::TransferEnd& end : {spec.src, spec.dst}) {
        const bool there = end.kind != model::TransferEnd::Kind::host || !end.number ||
                           std::ranges::any_of(context.nodes, [&](const sys::NumaNode& node) {
                               return node.id == *end.number && node.memory_bytes != 0;
                           });
        missing += there ? std::string{} : fmt::format("this machine has no memory on node {}", *end.number);
    }
    return missing;
}

std::string over_budget(const ProbeContext& context, std::uint64_t bytes, std::size_t transfers)
{
    const std::uint64_t needed = bytes * 2 * transfers;
    if (needed <= context.settings.memory_budget_bytes) {
        return {};
    }
    return fmt::format("both ends of all transfers need {}, {} may be used: --size makes them smaller",
                       base::exact_size(needed),
                       base::format_size(static_cast<double>(context.settings.memory_budget_bytes)));
}

void set_ends(model::CaseReport& report, const transfer::EndMemory& src, const transfer::EndMemory& dst)
{
    set_fact(report, "src_pages", src.pages());
    set_fact(report, "dst_pages", dst.pages());
    set_fact(report, "src_placement", src.proof().text);
    set_fact(report, "dst_placement", dst.proof().text);
    if ((src.proof().wrong || dst.proof().wrong) && report.status == model::Status::ok) {
        fail(report, "memory is not where it was bound to");
    }
}

model::CaseReport case_of_all(std::size_t transfers, const std::vector<double>& rates)
{
    model::CaseReport all = new_case("probe_transfers", {{"at_once", static_cast<std::int64_t>(transfers)}});
    if (rates.empty()) {
        skip(all, "none of them was measured");
    } else {
        set_values(all, model::metrics::bandwidth, rates);
        set_fact(all, "bytes_counted", std::string{"payload"});
    }
    return all;
}

}  // namespace memsweep::probe
