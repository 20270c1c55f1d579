#include <string>
#include <string_view>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/results.hpp"
#include "app/commands/trace_reports.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/symbols/call_sites.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/ci/stack_export.hpp"
#include "reporters/ci/trace_export.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::app {
namespace {

struct ExportCommand {
    std::string trace;
    std::string out;
    std::string format;
    trace::SiteOrder weight{trace::SiteOrder::peak};
    bool debuginfod{};
};

base::Expected<void> export_stacks(const ExportCommand& command, trace::TraceReader& reader, reporters::TextSink& sink)
{
    const trace::StackTable& table = reader.read_stacks();
    const trace::DebugFiles files = MEMSWEEP_TRY(debug_files(command.debuginfod));
    trace::Symbolizer symbolizer = trace::symbolizer_of(reader, table, files);
    const trace::CountedAllocations counted = trace::count_allocations(reader, trace::CountedBy::stack);
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(trace::possible_total(counted.impossible_event, command.trace));
    const auto source = reader.facts().find("command");
    const reporters::StackFigures figures{.table = &table,
                                          .symbolizer = &symbolizer,
                                          .counted = &counted,
                                          .start_unix_ns = reader.header().start_unix_ns,
                                          .command = source == reader.facts().end() ? std::string{} : source->second};
    if (command.format == "pprof") {
        reporters::export_pprof(figures, sink);
    } else {
        reporters::export_collapsed(figures, command.weight, sink);
    }
    for (const std::string& note : symbolizer.notes()) {
        print_note(note);
    }
    return {};
}

base::Expected<void> export_to(const ExportCommand& command, trace::TraceReader& reader, reporters::TextSink& sink)
{
    if (command.format == "pprof" || command.format == "collapsed") {
        return export_stacks(command, reader, sink);
    }
    return command.format == "umpire" ? reporters::export_umpire(reader, sink, command.trace)
                                      : reporters::export_rmm(reader, sink, command.trace);
}

base::Expected<ExitCode> execute(const ExportCommand& command, const GlobalOptions& /*global*/)
{
    MEMSWEEP_TRY(check_out(command.out, {command.trace}));
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    if (command.format == "pprof" || command.format == "collapsed") {
        MEMSWEEP_TRY(trace::require_stacks(reader, command.trace));
    }
    auto output = MEMSWEEP_TRY(TraceOutput::open(command.out.empty() ? "-" : command.out));
    base::Expected<void> outcome;
    const trace::TakeBytes take = output.taker();
    reporters::TextSink sink{[&](std::string_view text) {
        outcome = take(text);
        return outcome.has_value();
    }};
    const auto exported = export_to(command, reader, sink);
    static_cast<void>(sink.finish());  // what it could not pass on is in `outcome`
    MEMSWEEP_TRY(outcome);
    MEMSWEEP_TRY(exported);
    MEMSWEEP_TRY(reader.outcome());
    MEMSWEEP_TRY(output.commit());
    for (const std::string& gap : reporters::gaps_of(reader.facts())) {
        print_note(command.trace + ": " + gap);
    }
    return note_damage(command.trace, reader.damage());
}

}  // namespace

void add_export(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("export", "Write a trace as another tool's log or profile");
    auto& to_export = arguments_of<ExportCommand>(command, global, execute);
    command.positional("trace FILE", value::text(to_export.trace), "A trace (.mst); - is stdin");
    command.required_option("-f,--format FMT", value::word(to_export.format, {"rmm", "umpire", "pprof", "collapsed"}),
                            "rmm (CSV) or umpire (JSON lines); of call stacks, pprof (profile.proto, gzip) or "
                            "collapsed (a line a stack, for flamegraph.pl)");
    command.option("-o,--out FILE", value::text(to_export.out), "Where to write (default stdout)");
    command.option("--weight FIGURE", value::choice(to_export.weight, site_orders),
                   "The number behind each stack of collapsed: peak, allocated, end (bytes), count or temporary "
                   "(allocations); pprof has them all");
    add_debuginfod(command, to_export.debuginfod);
    command.footer =
        "Exit codes: 0 written; 1 parts of the trace were damaged and left out; 2 unreadable, without the stacks that "
        "the format needs, or sizes that add up to more than 64 bits hold.";
}

}  // namespace memsweep::app
