// How much of a change each call site makes, as sentences and parts of sentences.
#pragma once

#include <string>

#include "core/measure/findings.hpp"

namespace memsweep::reporters {

// "live_bytes_peak +12.0 MiB: all of it from parse_row (table.cpp:210)".
[[nodiscard]] std::string sites_text(const model::MetricSites& metric);

// "all of it from parse_row (table.cpp:210)", "62 % of it from ..., 20 % from ... and 18 % from 4 more sites". If some
// sites offset others, the shares are in the metric's unit.
[[nodiscard]] std::string shares_text(const model::MetricSites& metric);

// "call sites: equal within their noise in 2 recorded runs of each program".
[[nodiscard]] std::string equal_sites_text(const measure::ChangedSites& sites);

// "parse_row (table.cpp:210) through xmalloc (memory.c:7), which is new".
[[nodiscard]] std::string site_text(const model::SiteChange& site);

}  // namespace memsweep::reporters
