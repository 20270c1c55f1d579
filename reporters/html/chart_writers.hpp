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

// For each chart: a heading, a description, the spec that the page's script draws, and the figures as tables. The
// charts get numbers from `number` on. Afterwards, `number` is the next free one.
[[nodiscard]] std::string charts_html(const std::vector<ChartSection>& sections, std::size_t& number);

// A section that the page's script fills with a flame graph. It holds the tree, and a text for viewers that forbid
// scripts. A page has at most one such section.
[[nodiscard]] std::string flame_graph_html(const FlameTree& tree);

// Which scripts a page needs to draw its parts.
struct PageScripts {
    bool draw_charts{};
    bool draw_flame_graph{};
};

// The theme, and the scripts that draw. Every page also gets the script that makes tables sortable.
[[nodiscard]] std::string scripts_html(const PageScripts& scripts);

// The page's Content-Security-Policy: nothing from outside, and only the scripts of scripts_html().
[[nodiscard]] std::string content_policy(const PageScripts& scripts);

// The charts of a result, below each other, as one Vega-Lite 6 specification: for the Vega editor, vl2svg, Altair.
//
// Errors   none: a result without charts makes a specification without views.
[[nodiscard]] std::string to_vega(const model::RunReport& report);

}  // namespace memsweep::reporters
