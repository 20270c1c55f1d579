#include "app/commands/trace_reports.hpp"

#include <array>
#include <cstdlib>

#include <unistd.h>

#include "app/commands/document_output.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/sys/file_text.hpp"
#include "core/trace/end_mark.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::app {
void add_debuginfod(Command& command, bool& may_fetch)
{
    command.flag("--debuginfod", may_fetch,
                 "Fetch missing debugging information from the servers in DEBUGINFOD_URLS; without this option nothing "
                 "is fetched");
}

base::Expected<trace::DebugFiles> debug_files(bool may_fetch)
{
    const char* const servers = std::getenv("DEBUGINFOD_URLS");
    if (may_fetch && (servers == nullptr || *servers == '\0')) {
        return base::fail(base::ErrorCode::invalid_input, "needs a server, which DEBUGINFOD_URLS names",
                          "--debuginfod");
    }
    return may_fetch ? trace::DebugFiles::fetched_too : trace::DebugFiles::of_this_machine;
}

base::Expected<ExitCode> report_trace(const std::string& trace, const TraceReportTo& to, const GlobalOptions& global)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(trace));
    reader.check_side_chunks();
    const trace::TraceSummary summary = trace::summarize(reader);
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(summary.totals.impossible_event, trace));
    note_unseen_blocks(trace, summary);
    const ExitCode code = note_damage(trace, summary.damage);
    return worse(code, write_document(summary, to.format, to.path, global));
}

base::Expected<ExitCode> report_call_sites(const std::string& trace, const trace::SiteQuery& query, std::uint64_t top,
                                           const TraceReportTo& to, const GlobalOptions& global)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(trace));
    const auto mark = reader.end_mark();
    if (mark) {
        reader.read_until(mark->cut);
    }
    const auto sites = MEMSWEEP_TRY(trace::CallSites::of(reader, query, trace));
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(sites.impossible_event(), trace));
    const auto source = reader.facts().find("command");
    const reporters::CallSitesReport report{.sites = &sites,
                                            .source = source == reader.facts().end() ? trace : source->second,
                                            .top = top,
                                            .damage = reader.damage(),
                                            .gaps = reporters::gaps_of(reader.facts()),
                                            .up_to = mark ? mark->sign : ""};
    const ExitCode code = note_damage(trace, reader.damage());
    return worse(code, write_document(report, to.format, to.path, global));
}

bool is_trace(const std::string& path)
{
    const sys::UniqueFd file = sys::open_regular_file(path);
    std::array<std::uint8_t, sizeof trace::file_magic> head{};
    return file.valid() && ::pread(file.get(), head.data(), head.size(), 0) == static_cast<ssize_t>(head.size()) &&
           head == trace::file_magic;
}

}  // namespace memsweep::app
