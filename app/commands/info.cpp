#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/trace_reports.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/symbols/call_sites.hpp"

namespace memsweep::app {
namespace {

struct InfoCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
    std::optional<trace::SiteKind> by;
    trace::SiteOrder order{trace::SiteOrder::peak};
    std::uint64_t top{20};
    bool debuginfod{};
};

base::Expected<void> check(const InfoCommand& command)
{
    if (!command.by &&
        (command.top != InfoCommand{}.top || command.order != InfoCommand{}.order || command.debuginfod)) {
        return base::fail(base::ErrorCode::invalid_input, "--sort, --top and --debuginfod belong to --by", "--by");
    }
    return check_out(command.out, {command.trace});
}

base::Expected<ExitCode> execute(const InfoCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check(command));
    const TraceReportTo to{command.format, command.out};
    if (!command.by) {
        return report_trace(command.trace, to, global);
    }
    const trace::SiteQuery query{
        .by = *command.by, .order = command.order, .debug_files = MEMSWEEP_TRY(debug_files(command.debuginfod))};
    return report_call_sites(command.trace, query, command.top, to, global);
}

}  // namespace

void add_info(Command& root, const GlobalOptions& global)
{
    using trace::SiteKind;
    constexpr std::array<std::pair<std::string_view, SiteKind>, 5> kinds{{{"site", SiteKind::site},
                                                                          {"function", SiteKind::function},
                                                                          {"file", SiteKind::file},
                                                                          {"thread", SiteKind::thread},
                                                                          {"size", SiteKind::size}}};
    Command& command = root.command(
        "info", "Show what a trace holds: events, threads, live and peak bytes, sizes, lifetimes, who allocates");
    auto& info = arguments_of<InfoCommand>(command, global, execute);
    command.positional("trace FILE", value::text(info.trace), "A trace (.mst); - is stdin");
    command.format_option(info.format, value::word(info.format, {"text", "json", "md", "html"}),
                          "text, json, md, or html with pictures of live bytes, sizes, lifetimes and processes");
    command.option("-o,--out FILE", value::text(info.out), "Where to write (default stdout)");
    command.option("--by WHAT", value::choice(info.by, kinds),
                   "Show instead who allocates: by site (the innermost line of the program's own code), function, "
                   "file, thread or size. The first three need a trace with stacks (record --stacks, or an import)");
    command.option("--sort FIGURE", value::choice(info.order, site_orders),
                   "With --by: sort by peak (bytes live at the trace's peak), allocated (bytes), end (bytes live at "
                   "the end), count (allocations) or temporary (allocations freed by the next event of their thread)");
    command.option("--top N", value::number(info.top, 0, 1'000'000), "With --by: number of rows; 0: all");
    add_debuginfod(command, info.debuginfod);
    command.footer = "Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable, or without "
                     "the stacks that --by needs.";
}

}  // namespace memsweep::app
