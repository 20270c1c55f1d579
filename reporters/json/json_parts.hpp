// What the documents of all subjects are made of.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/measure/verdict.hpp"
#include "core/model/report.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json json_params(const std::vector<model::Param>& params);
[[nodiscard]] Json json_texts(const std::vector<std::string>& texts);
[[nodiscard]] Json json_interval(const std::optional<std::array<double, 2>>& interval);  // null without one

template <typename Items, typename Part>  // part(item) -> Json
[[nodiscard]] Json json_list(const Items& items, Part part)
{
    Json json = Json::array();
    for (const auto& item : items) {
        json.push_back(part(item));
    }
    return json;
}

template <typename Texts>  // pairs of a name and a text
[[nodiscard]] Json json_texts_by_name(const Texts& texts)
{
    Json json = Json::object();
    for (const auto& [name, text] : texts) {
        json[repaired_utf8(name)] = json_text(text);
    }
    return json;
}

}  // namespace memsweep::reporters
