#include <string>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct InfoCommand {
    std::string trace;
    std::string format{"text"};
    std::string out;
};

std::string text_of(const InfoCommand& command, const trace::TraceSummary& summary, const GlobalOptions& global)
{
    if (command.format == "json") {
        return reporters::to_json(summary);
    }
    return command.format == "html" ? reporters::to_html(summary)
                                    : reporters::to_terminal(summary, terminal_style(global));
}

base::Expected<ExitCode> execute(const InfoCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
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
    Command& command =
        root.command("info", "What a trace holds: events, threads, live and peak bytes, sizes, lifetimes");
    auto& info = arguments_of<InfoCommand>(command, global, execute);
    command.positional("trace FILE", value::text(info.trace), "A trace (.mst); - is stdin");
    command.format_option(info.format, value::word(info.format, {"text", "json", "html"}),
                          "text, json, or html with pictures of live bytes, sizes, lifetimes and processes");
    command.option("-o,--out FILE", value::text(info.out), "Where to write (default stdout)");
    command.footer = "Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable.";
}

}  // namespace memsweep::app
