// Finds call sites by the names that people give them.
//
// Cost     some microseconds for each site; nodes_with_events() reads the trace.
// Errors   invalid_input: no site has such a name; the message lists similar names.
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

// Returns the name of a place as reports write it, for example "parse_row (table.cpp:210)".
[[nodiscard]] std::string place_name(const ResolvedFrame& place);

// Whether `name` names the place. * stands for any characters, and ? for one. `name` may be:
// - the function, with or without parameters and anonymous namespaces
// - the file, with or without its folders and the line
// - the name of the place in reports (place_name())
[[nodiscard]] bool is_called(const ResolvedFrame& place, std::string_view name);

// Marks the nodes at which the stack of an event ends (its innermost frame). All other nodes are only callers of these.
// The reader must be at the beginning of the trace before the call, and is at the beginning after it.
[[nodiscard]] std::vector<bool> nodes_with_events(TraceReader& reader, std::size_t nodes);

// Marks the nodes whose site has one of `names`. Each name must match a site with events.
[[nodiscard]] base::Expected<std::vector<bool>>
nodes_of_sites(const StackSites& sites, const std::vector<bool>& with_events, const std::vector<std::string>& names);

}  // namespace memsweep::trace
