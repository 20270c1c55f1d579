// The reports that `info` and `report` print about a trace.
#pragma once

#include <cstdint>
#include <string>

#include "app/cli/console.hpp"
#include "core/base/expected.hpp"
#include "core/trace/symbols/call_sites.hpp"

namespace memsweep::app {

struct TraceReportTo {
    std::string format;  // text, json, md, html
    std::string path;    // empty: stdout
};

// Declares the flag --debuginfod, for commands that name functions.
void add_debuginfod(Command& command, bool& may_fetch);
// Returns where to look for debug information. `may_fetch`: the value of the flag.
//
// Errors   invalid_input: the flag is given, but DEBUGINFOD_URLS names no server.
[[nodiscard]] base::Expected<trace::DebugFiles> debug_files(bool may_fetch);

// Reports the totals, sizes, lifetimes and processes of a trace.
[[nodiscard]] base::Expected<ExitCode> report_trace(const std::string& trace, const TraceReportTo& to,
                                                    const GlobalOptions& global);

// Reports the call sites that allocate. `top`: how many sites to list; 0: all.
[[nodiscard]] base::Expected<ExitCode> report_call_sites(const std::string& trace, const trace::SiteQuery& query,
                                                         std::uint64_t top, const TraceReportTo& to,
                                                         const GlobalOptions& global);

// Says whether a file begins with the header of a trace. Returns false for a file that is unreadable or not regular.
[[nodiscard]] bool is_trace(const std::string& path);

}  // namespace memsweep::app
