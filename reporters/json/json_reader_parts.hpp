// The parts of a result document, read back; json_parts.hpp writes them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/json/json_node.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::vector<std::string> read_texts(const Node& node);
[[nodiscard]] model::Warning read_warning(const Node& node);
[[nodiscard]] model::ToolInfo read_tool(const Node& node);
[[nodiscard]] model::RunInfo read_run(const Node& node);
[[nodiscard]] model::Machine read_machine(const Node& node);
[[nodiscard]] model::Calibration read_calibration(const Node& root);  // empty where an earlier 0.x left it out
[[nodiscard]] std::vector<model::Param> read_params(const Node& node);

// `parts` are the case's metrics, points, phases and series as far as they have been taken out of `node` before; the
// series' numbers and the metric's values likewise.
[[nodiscard]] model::CaseReport read_case(const Node& node, model::CaseReport parts);
[[nodiscard]] model::Metric read_metric(const std::string& name, const Node& node,
                                        std::vector<std::optional<double>> values);
[[nodiscard]] model::Point read_point(const Node& node);
[[nodiscard]] model::Phase read_phase(const Node& node);
[[nodiscard]] model::Series read_series(const Node& node, model::Series numbers);

template <typename Read>
[[nodiscard]] auto read_list(const Node& node, Read read)
{
    std::vector<decltype(read(node))> items;
    node.for_each_element([&](const Node& element) { items.push_back(read(element)); });
    return items;
}

}  // namespace memsweep::reporters
