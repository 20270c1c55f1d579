#include <memory>
#include <string>
#include <string_view>

#include "app/cli/messages.hpp"
#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/trace_output.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/ci/trace_export.hpp"
#include "reporters/document/trace_summary.hpp"

namespace memsweep::app {
namespace {

struct ExportCommand {
    std::string trace;
    std::string out;
    std::string format;
};

ExitCode execute(const ExportCommand& command, const GlobalOptions& /*global*/)
{
    auto reader = trace::TraceReader::open(command.trace);
    if (!reader) {
        print_error(reader.error());
        return ExitCode::bad_input;
    }
    auto output = TraceOutput::open(command.out.empty() ? "-" : command.out);
    if (!output) {
        print_error(output.error());
        return ExitCode::bad_input;
    }
    base::Expected<void> outcome;
    const trace::TakeBytes take = output->taker();
    reporters::TextSink sink{[&](std::string_view text) {
        outcome = take(text);
        return outcome.has_value();
    }};
    command.format == "umpire" ? reporters::export_umpire(*reader, sink) : reporters::export_rmm(*reader, sink);
    static_cast<void>(sink.finish());  // what it could not pass on is in `outcome`
    outcome = outcome.and_then([&] { return output->commit(); });
    if (!outcome) {
        print_error(outcome.error());
        return ExitCode::bad_input;
    }
    const std::string note = reporters::damage_text(reader->damage());
    if (!note.empty()) {
        print_note(command.trace + ": " + note);
    }
    return note.empty() ? ExitCode::done : ExitCode::finding;
}

}  // namespace

void add_export(Command& program, const GlobalOptions& global)
{
    const auto to_export = std::make_shared<ExportCommand>();
    Command& command = program.command("export", "Write a trace as another tool's log");
    command.positional("trace FILE", value::text(to_export->trace), "A trace (.mst); - is stdin").required = true;
    command
        .option("-f,--format FMT", value::word(to_export->format, {"rmm", "umpire"}),
                "rmm (CSV) or umpire (JSON lines)")
        .required = true;
    command.option("-o,--out FILE", value::text(to_export->out), "Where to write (default stdout)");
    command.footer = "Exit codes: 0 written; 1 parts of the trace were damaged and left out; 2 unreadable.";
    command.run = [to_export, &global] { return execute(*to_export, global); };
}

}  // namespace memsweep::app
