// Finds call sites by what a person calls them.
//
// Cost     some us a site; nodes_with_events a reading of the trace.
// Errors   invalid_input: no site has such a name; the message has those that are near.
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

// Whether a name, in which * stands for any letters and ? for one, is the place's: that of its function with or without
// what it takes and anonymous namespaces, its file and line, its file, or all of it as reports have it. A file goes
// with or without its folders.
[[nodiscard]] bool is_called(const ResolvedFrame& place, std::string_view name);

// By node of the trace's stacks, those from which some event comes. The others are callers alone, and no call sites.
// The reader is at the trace's begin before and after.
[[nodiscard]] std::vector<bool> nodes_with_events(TraceReader& reader, std::size_t nodes);

// Those of `with_events` whose site has one of these names. Each of them has to be the name of some site.
[[nodiscard]] base::Expected<std::vector<bool>>
nodes_of_sites(const StackSites& sites, const std::vector<bool>& with_events, const std::vector<std::string>& names);

}  // namespace memsweep::trace
