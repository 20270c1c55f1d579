#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/terminal_style.hpp"
#include "app/trace_output.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/summary.hpp"
#include "reporters/trace_summary_writer.hpp"

namespace memsweep::app {
namespace {

constexpr std::size_t head_bytes = 4096;

std::string bad_lines_text(const trace::ImportSink& sink)
{
    std::string text = fmt::format("{} bad {} left out", sink.bad_lines(), sink.bad_lines() == 1 ? "line" : "lines");
    for (const trace::BadLine& line : sink.first_bad_lines()) {
        text +=
            fmt::format("{} line {}: {}", &line == sink.first_bad_lines().data() ? ":" : ";", line.number, line.reason);
    }
    return text + (sink.bad_lines() > sink.first_bad_lines().size() ? "; ..." : "");
}

trace::TraceSummary summary_of(const trace::ImportSink& sink, const trace::ImportFormat& format, trace::Facts facts)
{
    return {.totals = sink.accounting().totals(),
            .sizes = sink.accounting().sizes(),
            .lifetimes = sink.accounting().lifetimes(),
            .facts = std::move(facts),
            .ticks_per_second = format.ticks_per_second,
            .bad_lines = sink.bad_lines()};
}

base::Expected<ExitCode> import(const ImportCommand& command, const GlobalOptions& global)
{
    auto source = trace::open_log(command.log);
    if (!source) {
        return base::fail(source.error());
    }
    trace::LogText log{*std::move(source)};
    const auto format = trace::find_import_format(command.format, log.peek(head_bytes), command.log);
    if (!format) {
        return base::fail(log.failure() ? *log.failure() : format.error());
    }
    auto output = TraceOutput::open(command.out);
    if (!output) {
        return base::fail(output.error());
    }
    trace::TraceWriter writer{output->taker(), {.ticks_per_second = (*format)->ticks_per_second}};
    trace::ImportSink sink{writer};
    const auto imported =
        (*format)->import(log, sink, {.name = command.log, .free_order = command.free_order, .uid = command.uid});
    if (!imported || log.failure()) {
        return base::fail(log.failure() ? *log.failure() : imported.error());
    }
    if (sink.bad_lines() != 0) {
        print_note(command.log + ": " + bad_lines_text(sink));
        if (command.strict) {
            return base::fail(base::ErrorCode::invalid_input, "refused for its bad lines (--strict)", command.log);
        }
    }
    const trace::Facts facts{{"source", std::string{(*format)->name}},
                             {trace::bad_lines_fact, std::to_string(sink.bad_lines())},
                             {"ghosts", std::to_string(sink.ghosts())}};
    if (const auto written = writer.finish(facts).and_then([&] { return output->commit(); }); !written) {
        return base::fail(written.error());
    }
    if (command.out == "-" || (global.quiet && !command.json)) {
        return ExitCode::done;
    }
    const trace::TraceSummary summary = summary_of(sink, **format, facts);
    const std::string text =
        command.json ? reporters::to_json(summary) : reporters::to_terminal(summary, terminal_style(global));
    return print_data(text) ? ExitCode::done : ExitCode::bad_input;
}

}  // namespace

ExitCode execute(const ImportCommand& command, const GlobalOptions& global)
{
    const auto code = import(command, global);
    if (!code) {
        print_error(code.error());
        return ExitCode::bad_input;
    }
    return *code;
}

}  // namespace memsweep::app
