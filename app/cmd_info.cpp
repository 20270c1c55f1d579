#include "app/commands.hpp"
#include "app/terminal_style.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/trace_summary_writer.hpp"

namespace memsweep::app {

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

}  // namespace memsweep::app
