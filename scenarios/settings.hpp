// What is read once per scenario: settings with their includes, what the machine must have, variables.
//
// Errors   into Diagnostics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/plan.hpp"
#include "scenarios/fields.hpp"
#include "scenarios/sources.hpp"

namespace memsweep::scenarios {

struct RunSettings {
    model::Settings settings;
    model::SeriesSpec series;
};

// Reads what `fields` (a scenario or a settings file) says on top of what `run` holds.
void read_settings(const Fields& fields, const Reading& reading, RunSettings& run);

[[nodiscard]] model::SeriesSpec read_series(const Node& node, const Reading& reading);
// 2, or "2+".
[[nodiscard]] model::RankNeed read_ranks(const Fields& top);
// The number of a device's name, as in gpu0; nothing: it is not read, or reported.
[[nodiscard]] std::optional<std::uint32_t> read_device(const Fields& fields, std::string_view key);

[[nodiscard]] model::Requirements read_requirements(const Node& node, const Reading& reading);

using Assignments = std::vector<std::pair<std::string, std::string>>;  // NAME, VALUE as on the command line

// `node` may be null: a scenario without variables. The environment and the reserved words may stand in values.
[[nodiscard]] Variables read_variables(const Node* node, const Assignments& overrides, Sources& sources,
                                       const Reading& reading);

}  // namespace memsweep::scenarios
