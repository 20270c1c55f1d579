#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/call_sites.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct InfoCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
    std::optional<trace::SiteKind> by;
    trace::SiteOrder order{trace::SiteOrder::peak};
    std::uint64_t top{20};
};

template <typename Report>
std::string text_of(const InfoCommand& command, const Report& report, const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(report);
    }
    if (command.format == "md") {
        return reporters::to_markdown(report);
    }
    return command.format == "html" ? reporters::to_html(report)
                                    : reporters::to_terminal(report, terminal_style(global));
}

base::Expected<ExitCode> show_sites(const InfoCommand& command, trace::TraceReader& reader, const GlobalOptions& global)
{
    const auto sites = MEMSWEEP_TRY(trace::CallSites::of(reader, {*command.by, command.order}, command.trace));
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(sites.impossible_event(), command.trace));
    const auto source = reader.facts().find("command");
    const reporters::CallSitesReport report{.sites = &sites,
                                            .source = source == reader.facts().end() ? command.trace : source->second,
                                            .top = command.top,
                                            .damage = reader.damage()};
    const ExitCode code = note_damage(command.trace, reader.damage());
    return worse(code, write_text(text_of(command, report, global), command.out));
}

base::Expected<void> check(const InfoCommand& command)
{
    if (!command.by && (command.top != InfoCommand{}.top || command.order != InfoCommand{}.order)) {
        return base::fail(base::ErrorCode::invalid_input, "--sort and --top belong to --by", "--by");
    }
    return check_out(command.out, {command.trace});
}

base::Expected<ExitCode> execute(const InfoCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check(command));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    if (command.by) {
        return show_sites(command, reader, global);
    }
    reader.check_stacks();
    const trace::TraceSummary summary = trace::summarize(reader);
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(summary.totals.impossible_event, command.trace));
    note_unseen_blocks(command.trace, summary);
    const ExitCode code = note_damage(command.trace, summary.damage);
    return worse(code, write_text(text_of(command, summary, global), command.out));
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
        "info", "What a trace holds: events, threads, live and peak bytes, sizes, lifetimes, who allocates");
    auto& info = arguments_of<InfoCommand>(command, global, execute);
    command.positional("trace FILE", value::text(info.trace), "A trace (.mst); - is stdin");
    command.format_option(info.format, value::word(info.format, {"text", "json", "md", "html"}),
                          "text, json, md, or html with pictures of live bytes, sizes, lifetimes and processes");
    command.option("-o,--out FILE", value::text(info.out), "Where to write (default stdout)");
    command.option("--by WHAT", value::choice(info.by, kinds),
                   "Who allocates instead: by site (the innermost line that is the program's own), function, file, "
                   "thread or size. The first three need a trace with stacks (record --stacks, or an import)");
    command.option("--sort FIGURE", value::choice(info.order, site_orders),
                   "With --by: the most first of peak (live at the trace's peak), allocated, end (live at the end), "
                   "count (allocations) or temporary (freed by the next event of their thread)");
    command.option("--top N", value::number(info.top, 0, 1'000'000), "With --by: so many; 0: all");
    command.footer = "Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable, or without "
                     "the stacks that --by needs.";
}

}  // namespace memsweep::app
