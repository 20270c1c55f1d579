// The call sites that make the change between two programs: a table for each metric in which some differ, and the
// callers of the first of each.
#pragma once

#include <vector>

#include "core/model/site_changes.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

void add_sites(Document& document, const std::vector<model::SiteComparison>& sites);

}  // namespace memsweep::reporters
