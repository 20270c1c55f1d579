// Shows which call sites make the difference between two programs. Adds a table for each metric in which sites differ,
// and the callers of the table's first site.
#pragma once

#include <vector>

#include "core/model/site_changes.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

void add_sites(Document& document, const std::vector<model::SiteComparison>& sites);

}  // namespace memsweep::reporters
