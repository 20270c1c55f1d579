#include <string>
#include <string_view>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/ci/trace_export.hpp"

namespace memsweep::app {
namespace {

struct ExportCommand {
    std::string trace;
    std::string out;
    std::string format;
};

base::Expected<ExitCode> execute(const ExportCommand& command, const GlobalOptions& /*global*/)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    auto output = MEMSWEEP_TRY(TraceOutput::open(command.out.empty() ? "-" : command.out));
    base::Expected<void> outcome;
    const trace::TakeBytes take = output.taker();
    reporters::TextSink sink{[&](std::string_view text) {
        outcome = take(text);
        return outcome.has_value();
    }};
    const auto exported = command.format == "umpire" ? reporters::export_umpire(reader, sink, command.trace)
                                                     : reporters::export_rmm(reader, sink, command.trace);
    static_cast<void>(sink.finish());  // what it could not pass on is in `outcome`
    MEMSWEEP_TRY(outcome);
    MEMSWEEP_TRY(exported);
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(output.commit());
    return note_damage(command.trace, reader.damage());
}

}  // namespace

void add_export(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("export", "Write a trace as another tool's log");
    auto& to_export = arguments_of<ExportCommand>(command, global, execute);
    command.positional("trace FILE", value::text(to_export.trace), "A trace (.mst); - is stdin");
    command.required_option("-f,--format FMT", value::word(to_export.format, {"rmm", "umpire"}),
                            "rmm (CSV) or umpire (JSON lines)");
    command.option("-o,--out FILE", value::text(to_export.out), "Where to write (default stdout)");
    command.footer =
        "Exit codes: 0 written; 1 parts of the trace were damaged and left out; 2 unreadable, or sizes that "
        "add up to more than 64 bits hold.";
}

}  // namespace memsweep::app
