// The parts of a result document that stand on their own.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/text/json.hpp"
#include "reporters/text/json_stream.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json json_scalar(const model::Scalar& value);
[[nodiscard]] Json json_params(const std::vector<model::Param>& params);
[[nodiscard]] Json json_interval(const std::optional<std::array<double, 2>>& interval);  // null without one
[[nodiscard]] Json json_warning(const model::Warning& warning);
[[nodiscard]] Json json_assertion(const model::AssertionResult& assertion);
[[nodiscard]] Json json_texts(const std::vector<std::string>& texts);
[[nodiscard]] Json json_map(const std::map<std::string, std::string>& map);
[[nodiscard]] Json json_tool(const model::ToolInfo& tool);
[[nodiscard]] Json json_machine(const model::Machine& machine);
[[nodiscard]] Json json_counts(const model::Counts& counts);
void write_case(const model::CaseReport& report, JsonStream& out);  // list by list, metric by metric

template <typename Item>
[[nodiscard]] Json json_list(const std::vector<Item>& items, Json (*part)(const Item&))
{
    Json json = Json::array();
    for (const Item& item : items) {
        json.push_back(part(item));
    }
    return json;
}

}  // namespace memsweep::reporters
