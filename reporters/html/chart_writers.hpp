// Charts put out: in a page, and as one specification that stands alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/model/report.hpp"
#include "reporters/document/chart.hpp"
#include "reporters/document/document.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {

// A heading, words, the spec for the page's script to draw, and the figures as tables of each chart. Numbers the charts
// from `number` on, which it raises.
[[nodiscard]] std::string charts_html(const std::vector<ChartSection>& sections, std::size_t& number);

// A section that the page's script fills: the tree, and a text for viewers that forbid scripts. A page has at most one.
[[nodiscard]] std::string flame_graph_html(const FlameTree& tree);

// The parts of a page that scripts of its own draw.
struct PageScripts {
    bool draw_charts{};
    bool draw_flame_graph{};
};

// The theme and the scripts that draw. Every page also gets the script that makes tables sortable.
[[nodiscard]] std::string scripts_html(const PageScripts& scripts);

// The page's Content-Security-Policy: nothing from outside, and of scripts only those above.
[[nodiscard]] std::string content_policy(const PageScripts& scripts);

// The charts of a result as one Vega-Lite 6 specification, below each other: for the Vega editor, vl2svg, Altair.
//
// Errors   none: a result without anything to draw is a specification without views.
[[nodiscard]] std::string to_vega(const model::RunReport& report);

}  // namespace memsweep::reporters
