#include <memory>
#include <string>

#include "app/cli/global_options.hpp"
#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
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

ExitCode execute(const InfoCommand& command, const GlobalOptions& global)
{
    auto reader = trace::TraceReader::open(command.trace);
    if (!reader) {
        print_error(reader.error());
        return ExitCode::bad_input;
    }
    const trace::TraceSummary summary = trace::summarize(*reader);
    const std::string note = reporters::damage_text(summary.damage);
    if (!note.empty()) {
        print_note(command.trace + ": " + note);
    }
    const ExitCode code = note.empty() ? ExitCode::done : ExitCode::finding;
    const std::string text =
        command.json ? reporters::to_json(summary) : reporters::to_terminal(summary, terminal_style(global));
    return print_data(text) ? code : worse(code, ExitCode::bad_input);
}

}  // namespace

void add_info(Command& program, const GlobalOptions& global)
{
    const auto info = std::make_shared<InfoCommand>();
    Command& command =
        program.command("info", "What a trace holds: events, threads, live and peak bytes, sizes, lifetimes");
    command.positional("trace FILE", value::text(info->trace), "A trace (.mst); - is stdin").required = true;
    command.flag("--json", info->json, "The totals as JSON");
    command.footer = "Exit codes: 0 all of it was read; 1 parts were damaged and left out; 2 unreadable.";
    command.run = [info, &global] { return execute(*info, global); };
}

}  // namespace memsweep::app
