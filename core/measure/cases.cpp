#include "core/measure/cases.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/assert.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;
using model::Metric;
using model::Param;
using model::Phase;
using model::RatioOf;
using model::RunReport;
using Key = std::pair<std::string, std::vector<std::string>>;  // the scenario and the parameters that must agree
using ById = std::map<std::pair<std::string_view, std::string_view>, const CaseReport*>;  // scenario and id

ById by_id(std::span<const CaseReport> cases)
{
    ById found;
    for (const CaseReport& one : cases) {
        found.emplace(ById::key_type{one.scenario, one.id}, &one);
    }
    return found;
}

// nullptr: none of the group has that value.
const CaseReport* with_value(const CaseGroup& group, std::string_view axis, std::string_view value)
{
    const auto found =
        std::ranges::find_if(group.cases, [&](const auto* one) { return value_on(*one, axis) == value; });
    return found == group.cases.end() ? nullptr : *found;
}

std::vector<CaseGroup> groups_of(std::span<const CaseReport> cases, std::string_view axis)
{
    std::vector<CaseGroup> groups;
    std::map<std::vector<std::string>, std::size_t> positions;
    for (const CaseReport& one : cases) {
        if (one.status != model::Status::ok || !value_on(one, axis)) {
            continue;
        }
        std::vector<std::string> rest = params_without(one, std::array{axis});
        rest.insert(rest.begin(), one.scenario);
        const auto [position, is_new] = positions.try_emplace(rest, groups.size());
        if (is_new) {
            groups.push_back({std::move(rest), {}, nullptr});
        }
        groups[position->second].cases.push_back(&one);
    }
    return groups;
}

struct PhaseMetric {
    std::string_view name;
    std::optional<double> (*value)(const Phase&);
};

constexpr std::array<PhaseMetric, 6> phase_metrics{{
    {model::metrics::wall_time, [](const Phase& one) -> std::optional<double> { return one.time; }},
    {model::metrics::minor_faults,
     [](const Phase& one) -> std::optional<double> { return static_cast<double>(one.minor_faults); }},
    {model::metrics::major_faults,
     [](const Phase& one) -> std::optional<double> { return static_cast<double>(one.major_faults); }},
    {model::metrics::fault_time, [](const Phase& one) { return one.fault_time; }},
    {model::metrics::allocator_time, [](const Phase& one) { return one.allocator_time; }},
    {model::metrics::collector_wait_time, [](const Phase& one) { return one.collector_wait_time; }},
}};

Metric metric_of(const PhaseMetric& wanted, const CaseReport& report, const std::string& phase)
{
    const model::MetricInfo* const info = model::find_metric(model::metric_catalog(), wanted.name);
    MEMSWEEP_ASSERT(info != nullptr, "the metrics of phases are metrics of repetitions too");
    Metric metric;
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
        Metric metric = metric_of(wanted, report, phase);
        if (metric.summary) {
            one.metrics.push_back(std::move(metric));
        }
    }
    return one;
}

std::string matrix_name(const CaseReport& report)
{
    constexpr std::string_view prefix = "probe_";
    std::string_view scenario = report.scenario;
    scenario.remove_prefix(scenario.starts_with(prefix) ? prefix.size() : 0);
    std::string name{scenario};
    for (const Param& param : report.params) {
        if (param.name != cpu_node_param && param.name != mem_node_param) {
            name += "_" + model::to_text(param.value);
        }
    }
    return name;
}

// What such a case is about; a case that was not measured has none.
const Metric* main_metric(const CaseReport& report)
{
    for (const model::MetricInfo* figure : model::shown_at({model::ShownAt::figures})) {
        const Metric* const metric = figure->shown.is_sampled ? model::find_metric(report, figure->name) : nullptr;
        if (metric != nullptr) {
            return metric;
        }
    }
    return nullptr;
}

void widen(PlaceMatrix& matrix)
{
    matrix.cells.resize(matrix.rows.size());
    for (auto& row : matrix.cells) {
        row.resize(matrix.cols.size());
    }
}

PlaceMatrix& matrix_of(std::vector<PlaceMatrix>& matrices, const std::string& name)
{
    const auto found = std::ranges::find(matrices, name, &PlaceMatrix::name);
    if (found != matrices.end()) {
        return *found;
    }
    matrices.push_back({.name = name,
                        .unit = model::Unit::bytes_per_second,
                        .better = model::Better::higher,
                        .row_role = "processors of",
                        .col_role = "memory of"});
    return matrices.back();
}

}  // namespace

std::vector<std::optional<double>> case_values(const CaseReport& report, std::string_view point,
                                               std::string_view metric)
{
    if (point.empty()) {
        const Metric* found = model::find_metric(report, metric);
        return found != nullptr ? found->values : std::vector<std::optional<double>>{};
    }
    std::vector<std::optional<double>> values;
    for (const model::Point& one : report.points) {
        const auto* field = one.name == point ? model::point_field(one, metric) : nullptr;
        if (field != nullptr) {
            values.push_back(*field);
        }
    }
    return values;
}

std::optional<double> case_median(const CaseReport& report, std::string_view point, std::string_view metric)
{
    return stat_of(case_values(report, point, metric), model::Stat::median, 0);
}

std::optional<Shift> case_shift(const CaseReport& base, const CaseReport& other, std::string_view metric)
{
    const std::vector<double> from = present(case_values(base, {}, metric));
    const std::vector<double> to = present(case_values(other, {}, metric));
    return from.empty() || to.empty() ? std::nullopt : std::optional{hodges_lehmann(from, to)};
}

std::vector<std::string_view> point_names(const CaseReport& report)
{
    std::vector<std::string_view> names;
    for (const model::Point& point : report.points) {
        if (std::ranges::find(names, point.name) == names.end()) {
            names.push_back(point.name);
        }
    }
    return names;
}

std::vector<CasePair> pair_by_id(std::span<const CaseReport> base, std::span<const CaseReport> candidate)
{
    ById rest = by_id(candidate);
    std::vector<CasePair> pairs;
    for (const CaseReport& one : base) {
        const auto found = rest.find({one.scenario, one.id});
        pairs.push_back({&one, found == rest.end() ? nullptr : found->second});
        if (found != rest.end()) {
            rest.erase(found);
        }
    }
    for (const CaseReport& one : candidate) {
        if (const auto found = rest.find({one.scenario, one.id}); found != rest.end() && found->second == &one) {
            pairs.push_back({nullptr, &one});
        }
    }
    return pairs;
}

std::vector<CasePair> pair_by_value(std::span<const CaseReport> cases, const RatioOf& base, const RatioOf& candidate)
{
    const std::array<std::string_view, 2> axes{base.axis, candidate.axis};
    std::map<Key, std::vector<const CaseReport*>> bases;
    for (const CaseReport& one : cases) {
        if (has_value(one, base)) {
            bases[{one.scenario, params_without(one, axes)}].push_back(&one);
        }
    }
    std::vector<CasePair> pairs;
    for (const CaseReport& one : cases) {
        if (!has_value(one, candidate)) {
            continue;
        }
        if (const auto found = bases.find({one.scenario, params_without(one, axes)}); found != bases.end()) {
            std::ranges::for_each(found->second, [&](const CaseReport* from) {
                if (from != &one) {
                    pairs.push_back({from, &one});
                }
            });
        }
    }
    return pairs;
}

std::string param_text(const Param& param)
{
    return fmt::format("{}={}", param.name, model::to_text(param.value));
}

std::vector<std::string> params_without(const CaseReport& report, std::span<const std::string_view> axes)
{
    std::vector<std::string> texts;
    for (const Param& param : report.params) {
        if (std::ranges::find(axes, param.name) == axes.end()) {
            texts.push_back(param_text(param));
        }
    }
    std::ranges::sort(texts);
    return texts;
}

bool has_value(const CaseReport& report, const RatioOf& wanted)
{
    return model::matches(report.params, {Param{wanted.axis, wanted.value}});
}

std::vector<CaseGroup> mode_groups(std::span<const CaseReport> cases)
{
    std::vector<CaseGroup> groups = groups_of(cases, mode_axis);
    for (CaseGroup& group : groups) {
        const CaseReport* refcount = with_value(group, mode_axis, "refcount");
        group.base = refcount != nullptr ? refcount : group.cases.front();
    }
    return groups;
}

std::vector<CaseGroup> groups_against(std::span<const CaseReport> cases, std::string_view axis, std::string_view base)
{
    std::vector<CaseGroup> groups = groups_of(cases, axis);
    for (CaseGroup& group : groups) {
        group.base = with_value(group, axis, base);
    }
    std::erase_if(groups, [](const CaseGroup& group) { return group.base == nullptr; });
    return groups;
}

std::optional<std::string> value_on(const CaseReport& report, std::string_view axis)
{
    const auto found = std::ranges::find(report.params, axis, &Param::name);
    return found == report.params.end() ? std::nullopt : std::optional{model::to_text(found->value)};
}

std::optional<std::string> mode_of(const CaseReport& report)
{
    return value_on(report, mode_axis);
}

RunReport by_phase(const RunReport& report)
{
    RunReport phases;
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

bool has_phase_axis(const RunReport& report)
{
    return std::ranges::any_of(report.cases,
                               [](const CaseReport& one) { return value_on(one, phase_axis).has_value(); });
}

std::size_t index_of(std::vector<std::string>& names, const std::string& name)
{
    const auto found = std::ranges::find(names, name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (found == names.end()) {
        names.push_back(name);
    }
    return index;
}

std::vector<PlaceMatrix> place_matrices(const std::vector<CaseReport>& cases)
{
    std::vector<PlaceMatrix> matrices;
    for (const CaseReport& report : cases) {
        const auto cpu = value_on(report, cpu_node_param);
        const auto mem = value_on(report, mem_node_param);
        if (!cpu || !mem) {
            continue;
        }
        PlaceMatrix& matrix = matrix_of(matrices, matrix_name(report));
        const std::size_t row = index_of(matrix.rows, fmt::format("node{}", *cpu));
        const std::size_t col = index_of(matrix.cols, fmt::format("node{}", *mem));
        widen(matrix);
        PlaceMatrix::Cell& cell = matrix.cells[row][col];
        const Metric* const metric = main_metric(report);
        if (metric != nullptr) {
            matrix.unit = metric->unit;
            matrix.better = metric->better;
        }
        if (metric != nullptr && metric->summary) {
            cell.value = metric->summary->median;
            cell.least = metric->summary->min;
        }
        cell.has_case = true;
        cell.reason = report.reason;
    }
    return matrices;
}

}  // namespace memsweep::measure
