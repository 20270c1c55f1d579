// What `compare` writes of two runs of a fleet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/measure/fleet_trend.hpp"
#include "reporters/terminal_writer.hpp"

namespace memsweep::reporters {

struct FleetTrendReport {
    std::vector<measure::FleetTrend> trends;  // each candidate against the base
    bool only_changed{};
};

[[nodiscard]] std::string to_terminal(const FleetTrendReport& report, const TerminalStyle& style);
[[nodiscard]] std::string to_markdown(const FleetTrendReport& report);
[[nodiscard]] std::string to_html(const FleetTrendReport& report);
[[nodiscard]] std::string to_json(const FleetTrendReport& report);  // format memsweep-fleet-trend, version 1

struct FleetTrendFormat {
    std::string_view name;
    std::string (*write)(const FleetTrendReport&);
};
[[nodiscard]] const FleetTrendFormat* find_fleet_trend_format(std::string_view name);  // text, md, json or html

}  // namespace memsweep::reporters
