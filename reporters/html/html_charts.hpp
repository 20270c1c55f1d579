// Charts in a page: a heading, words, the spec for the page's script to draw, and the figures as tables.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reporters/document/charts.hpp"

namespace memsweep::reporters {

// Numbers the charts of a page from `number` on, which it raises.
[[nodiscard]] std::string charts_html(const std::vector<ChartSection>& sections, std::size_t& number);

// The theme and the scripts that draw; without charts only what makes tables sortable.
[[nodiscard]] std::string scripts_html(bool with_charts);

// The page's Content-Security-Policy: nothing from outside, and of scripts only those above.
[[nodiscard]] std::string content_policy(bool with_charts);

}  // namespace memsweep::reporters
