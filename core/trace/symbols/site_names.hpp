// Finds call sites by what a person calls them.
//
// Cost     some us a site.
// Errors   invalid_input: no site has such a name; the message has those that are near.
// Threads  any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/symbols/call_sites.hpp"

namespace memsweep::trace {

// "parse_row (table.cpp:210)", as reports name a place.
[[nodiscard]] std::string place_name(const ResolvedFrame& place);

// Whether a name, in which * stands for any letters and ? for one, is the place's: that of its function with or without
// what it takes and anonymous namespaces, its file and line, its file, or all of it as reports have it. A file goes
// with or without its folders.
[[nodiscard]] bool is_called(const ResolvedFrame& place, std::string_view name);

// The nodes of all stacks whose site has one of these names. Each of them has to be the name of some site.
[[nodiscard]] base::Expected<std::vector<bool>> nodes_of_sites(const StackSites& sites,
                                                               const std::vector<std::string>& names);

}  // namespace memsweep::trace
