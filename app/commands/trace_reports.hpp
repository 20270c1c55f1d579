// The reports of `info` and `report` on a trace.
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

// The flag --debuginfod, of commands that name functions.
void add_debuginfod(Command& command, bool& may_fetch);
// Errors: invalid_input, if the flag is given and no server is.
[[nodiscard]] base::Expected<trace::DebugFiles> debug_files(bool may_fetch);

// Totals, sizes, lifetimes and processes of a trace.
[[nodiscard]] base::Expected<ExitCode> report_trace(const std::string& trace, const TraceReportTo& to,
                                                    const GlobalOptions& global);

// The call sites that allocate; names the first `top`, 0: all.
[[nodiscard]] base::Expected<ExitCode> report_call_sites(const std::string& trace, const trace::SiteQuery& query,
                                                         std::uint64_t top, const TraceReportTo& to,
                                                         const GlobalOptions& global);

// Whether a file begins like a trace. A file that cannot be read, or is not regular, does not.
[[nodiscard]] bool is_trace(const std::string& path);

}  // namespace memsweep::app
