// The parts of a result document, read back; json_parts.hpp writes them.
#pragma once

#include <utility>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/json_node.hpp"

namespace memsweep::reporters {

[[nodiscard]] model::ToolInfo read_tool(const Node& node);
[[nodiscard]] model::RunInfo read_run(const Node& node);
[[nodiscard]] model::Machine read_machine(const Node& node);
[[nodiscard]] model::Calibration read_calibration(const Node& root);  // empty where an earlier 0.x left it out
[[nodiscard]] model::CaseReport read_case(const Node& node);

template <typename Read>
[[nodiscard]] auto read_list(const Node& node, Read read)
{
    std::vector<decltype(read(node))> items;
    node.for_each_element([&](const Node& element) { items.push_back(read(element)); });
    return items;
}

}  // namespace memsweep::reporters
