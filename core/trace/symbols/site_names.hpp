// Finds call sites by what a person calls them.
//
// Cost     some us a site; nodes_with_events() reads the trace.
// Errors   invalid_input: no site has such a name; the message has similar ones.
// Threads  any.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

// "parse_row (table.cpp:210)", as reports name a place.
[[nodiscard]] std::string place_name(const ResolvedFrame& place);

// Whether `name` names the place. * stands for any letters, and ? for one. A name is the function (with or without
// parameters and anonymous namespaces), file and line, the file, or all of these as in reports. A file may have its
// folders or not.
[[nodiscard]] bool is_called(const ResolvedFrame& place, std::string_view name);

// Marks the nodes of the trace's stacks from which events come. The others are only callers, and no call sites. The
// reader is at the beginning of the trace before and after.
[[nodiscard]] std::vector<bool> nodes_with_events(TraceReader& reader, std::size_t nodes);

// Marks the nodes of `with_events` whose site has one of these names. Each name must be that of some site.
[[nodiscard]] base::Expected<std::vector<bool>>
nodes_of_sites(const StackSites& sites, const std::vector<bool>& with_events, const std::vector<std::string>& names);

}  // namespace memsweep::trace
