// Writes charts: as parts of a page, or as one Vega-Lite specification that needs no page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/document.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// Writes each chart as a heading, a description, the spec that the page's script draws, and the values as tables. The
// charts are numbered from `number` + 1 on. Afterwards, `number` is the number of the last chart.
[[nodiscard]] std::string charts_html(const std::vector<ChartSection>& sections, std::size_t& number);

// Makes a section that the page's script fills with a flame graph. The section holds the tree of functions, and a text
// for viewers that forbid scripts. A page has at most one such section.
[[nodiscard]] std::string flame_graph_html(const FlameTree& tree);

// Which scripts a page needs to draw its parts.
struct PageScripts {
    bool draw_charts{};
    bool draw_flame_graph{};
};

// Returns the theme and the scripts that `scripts` names. The script that makes tables sortable is always included.
[[nodiscard]] std::string scripts_html(const PageScripts& scripts);

// Returns the page's Content-Security-Policy. It allows nothing from outside, and only the scripts of scripts_html().
[[nodiscard]] std::string content_policy(const PageScripts& scripts);

// Writes the charts of a result, below each other, as one Vega-Lite 6 specification for the Vega editor, vl2svg or
// Altair.
//
// Errors   none: a result without charts makes a specification without views.
[[nodiscard]] std::string to_vega(const model::RunReport& report);

}  // namespace memsweep::reporters
