// The JSON Schemas (draft-07) that `memsweep schema` prints. The schema of scenarios is made from the option tables.
// The other schemas are files that are compiled into the binary.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "scenarios/reader/option_table.hpp"

namespace memsweep::scenarios {

[[nodiscard]] std::string_view scenario_schema();
[[nodiscard]] std::string_view result_schema();
[[nodiscard]] std::string_view gate_schema();
[[nodiscard]] std::string_view comparison_schema();
[[nodiscard]] std::string_view history_schema();
[[nodiscard]] std::string_view limits_schema();
[[nodiscard]] std::string_view fleet_schema();
[[nodiscard]] std::string_view fleet_trend_schema();
[[nodiscard]] std::string_view explain_schema();
[[nodiscard]] std::string_view advice_schema();

// Returns the schema of one kind of object in a scenario. `section`: the name of the option table of these objects.
// `options`: the rows of this table.
[[nodiscard]] std::string object_schema_text(std::string_view section, std::span<const OptionInfo> options);

struct NamedSchema {
    std::string_view name;  // as on the command line
    std::string_view (*text)();
};
inline constexpr std::array<NamedSchema, 10> schemas{{{"scenario", scenario_schema},
                                                      {"result", result_schema},
                                                      {"gate", gate_schema},
                                                      {"comparison", comparison_schema},
                                                      {"history", history_schema},
                                                      {"limits", limits_schema},
                                                      {"fleet", fleet_schema},
                                                      {"fleet-trend", fleet_trend_schema},
                                                      {"explain", explain_schema},
                                                      {"advice", advice_schema}}};

}  // namespace memsweep::scenarios
