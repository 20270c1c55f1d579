#include <string>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct InfoCommand {
    std::string trace;
    bool json{};
};

base::Expected<ExitCode> execute(const InfoCommand& command, const GlobalOptions& global)
{
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    const trace::TraceSummary summary = trace::summarize(reader);
    MEMSWEEP_TRY(trace::possible_total(summary.totals.impossible_event, command.trace));
    const ExitCode code = note_damage(command.trace, summary.damage);
    const std::string text =
        command.json ? reporters::to_json(summary) : reporters::to_terminal(summary, terminal_style(global));
    return worse(code, print_text(text));
}

}  // namespace

void add_info(Command& program, const GlobalOptions& global)
{
    Command& command =
        program.command("info", "What a trace holds: events, threads, live and peak bytes, sizes, lifetimes");
    auto& info = arguments_of<InfoCommand>(command, global, execute);
    command.positional("trace FILE", value::text(info.trace), "A trace (.mst); - is stdin");
    command.text_or_json(info.json, "The totals as JSON");
    command.footer = "Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable.";
}

}  // namespace memsweep::app
