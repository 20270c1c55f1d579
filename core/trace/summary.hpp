// What `memsweep info` says of a trace.
//
// Cost     one pass over the trace.
// Memory   as Accounting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/trace/totals.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::trace {

struct Space {
    std::string name;
    SpaceKind kind{};
    std::uint32_t device{};
};

struct TraceSummary {
    Totals totals;
    Histogram sizes{};
    Histogram lifetimes{};
    std::map<EventKind, std::uint64_t> by_kind;
    std::map<std::uint32_t, Space> spaces;
    Facts facts;
    Damage damage;
    std::uint64_t ticks_per_second{};
    std::uint64_t bad_lines{};  // of the log that the trace was imported from
};

[[nodiscard]] TraceSummary summarize(TraceReader& reader);

}  // namespace memsweep::trace
