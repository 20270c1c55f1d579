#include "reporters/fleet_formats.hpp"

#include <algorithm>
#include <array>

#include "reporters/fleet_json.hpp"

namespace memsweep::reporters {
namespace {

template <std::string (*to_text)(const FleetReport&)>
void write_whole(const FleetReport& report, TextSink& sink)
{
    sink.add(to_text(report));
}

// As a file, not a terminal.
std::string to_text(const FleetReport& report)
{
    return to_terminal(report, TerminalStyle{.width = 120, .color = false, .verbose = true});
}

void write_json(const FleetReport& report, TextSink& sink)
{
    write_fleet_json(*report.fleet, sink);
}

}  // namespace

std::span<const FleetFormat> fleet_formats()
{
    static constexpr std::array<FleetFormat, 6> table{{{"text", write_whole<to_text>},
                                                       {"json", write_json},
                                                       {"html", write_whole<to_html>},
                                                       {"csv", write_csv},
                                                       {"md", write_whole<to_markdown>},
                                                       {"health", write_health}}};
    return table;
}

const FleetFormat* find_fleet_format(std::string_view name)
{
    const auto found = std::ranges::find(fleet_formats(), name, &FleetFormat::name);
    return found == fleet_formats().end() ? nullptr : &*found;
}

}  // namespace memsweep::reporters
