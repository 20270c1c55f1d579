// Colours and type of charts, as a Vega-Lite config.
#pragma once

#include "reporters/text/json.hpp"

namespace memsweep::reporters {

[[nodiscard]] Json page_chart_theme();   // colours are the page's custom properties, so that they follow its theme
[[nodiscard]] Json plain_chart_theme();  // dark on white, for a chart that stands alone

}  // namespace memsweep::reporters
