#include "core/measure/place_matrix.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/measure/cases.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

std::string matrix_name(const CaseReport& report)
{
    constexpr std::string_view prefix = "probe_";
    std::string_view scenario = report.scenario;
    scenario.remove_prefix(scenario.starts_with(prefix) ? prefix.size() : 0);
    std::string name{scenario};
    for (const model::Param& param : report.params) {
        if (param.name != cpu_node_param && param.name != mem_node_param) {
            name += "_" + model::to_text(param.value);
        }
    }
    return name;
}

// What such a case is about; a case that was not measured has none.
const model::Metric* main_metric(const CaseReport& report)
{
    constexpr std::array<std::string_view, 2> by_rank{"bandwidth", "latency"};
    for (const std::string_view name : by_rank) {
        if (const model::Metric* metric = model::find_metric(report, name)) {
            return metric;
        }
    }
    return nullptr;
}

std::size_t index_of(std::vector<std::string>& places, const std::string& place)
{
    const auto found = std::ranges::find(places, place);
    const auto index = static_cast<std::size_t>(found - places.begin());
    if (found == places.end()) {
        places.push_back(place);
    }
    return index;
}

void widen(PlaceMatrix& matrix)
{
    matrix.cells.resize(matrix.rows.size());
    for (auto& row : matrix.cells) {
        row.resize(matrix.cols.size(), {.value = std::nullopt, .reason = "no case for this pair"});
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
        const model::Metric* const metric = main_metric(report);
        if (metric != nullptr) {
            matrix.unit = metric->unit;
            matrix.better = metric->better;
        }
        cell.value = metric != nullptr && metric->summary ? std::optional{metric->summary->median} : std::nullopt;
        cell.reason = report.reason.empty() ? "no value was measured" : report.reason;
    }
    return matrices;
}

}  // namespace memsweep::measure
