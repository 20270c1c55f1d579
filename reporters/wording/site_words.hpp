// Says in sentences and parts of sentences how much of a change comes from each call site.
#pragma once

#include <string>

#include "core/measure/findings.hpp"

namespace memsweep::reporters {

// Writes a sentence for one metric: "live_bytes_peak +12.0 MiB: all of it from parse_row (table.cpp:210)".
[[nodiscard]] std::string sites_text(const model::MetricSites& metric);

// Writes each site's share of the change: "all of it from parse_row (table.cpp:210)", "62 % of it from ..., 20 % from
// ... and the rest from 4 more sites". If some sites grow while other sites shrink, the text has amounts in the
// metric's unit instead of percentages.
[[nodiscard]] std::string shares_text(const model::MetricSites& metric);

// Says that no site differs: "call sites: equal within their noise in 2 recorded runs of each program".
[[nodiscard]] std::string equal_sites_text(const measure::ChangedSites& sites);

// Names a site: "parse_row (table.cpp:210) through xmalloc (memory.c:7), which is new".
[[nodiscard]] std::string site_text(const model::SiteChange& site);

}  // namespace memsweep::reporters
