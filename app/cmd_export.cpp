#include "app/commands.hpp"
#include "app/trace_output.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/trace_export.hpp"
#include "reporters/trace_summary_writer.hpp"

namespace memsweep::app {

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

}  // namespace memsweep::app
