// The formats that a fleet can be written in: what `report -f` accepts for it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reporters/fleet_report.hpp"
#include "reporters/terminal_writer.hpp"
#include "reporters/text_sink.hpp"

namespace memsweep::reporters {

struct FleetFormat {
    std::string_view name;
    void (*write)(const FleetReport&, TextSink&);
};

[[nodiscard]] std::span<const FleetFormat> fleet_formats();
[[nodiscard]] const FleetFormat* find_fleet_format(std::string_view name);  // nullptr: it has no form for a fleet

// What changed and who is bad, then the distributions, as terminal_writer.hpp says.
[[nodiscard]] std::string to_terminal(const FleetReport& report, const TerminalStyle& style);

// For a job summary, in GitHub's Markdown: the verdict first, the distributions folded away.
[[nodiscard]] std::string to_markdown(const FleetReport& report);

// One self-contained page: verdict, bad hosts, matrices, distributions with the outliers named, and a part for each
// host that is bad (or for every host of a small fleet).
[[nodiscard]] std::string to_html(const FleetReport& report);

// host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict: a row per host and quantity.
void write_csv(const FleetReport& report, TextSink& sink);

// NDJSON, a line per bad or missing host: {"host","healthy":false,"evidence":[...]}; nothing where all are well.
void write_health(const FleetReport& report, TextSink& sink);

}  // namespace memsweep::reporters
