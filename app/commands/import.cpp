#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/foreign_files.hpp"
#include "app/commands/results.hpp"
#include "app/commands/traces.hpp"
#include "core/trace/import/import.hpp"
#include "core/trace/summary.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

struct ImportCommand {
    std::string log;
    std::string out;
    std::string format;  // empty: by its first bytes
    trace::FreeOrder free_order{trace::FreeOrder::lifo};
    std::optional<std::uint64_t> uid;
    bool strict{};
    bool json{};
};

std::string bad_lines_text(const trace::ImportSink& sink)
{
    std::string text = fmt::format("{} bad {} left out", sink.bad_lines(), sink.bad_lines() == 1 ? "line" : "lines");
    for (const trace::BadLine& line : sink.first_bad_lines()) {
        text +=
            fmt::format("{} line {}: {}", &line == sink.first_bad_lines().data() ? ":" : ";", line.number, line.reason);
    }
    return text + (sink.bad_lines() > sink.first_bad_lines().size() ? "; ..." : "");
}

std::string differing_totals_text(const trace::ImportSink& sink)
{
    std::string text;
    std::size_t named = 0;
    for (const trace::StatedTotal& total : sink.stated_totals()) {
        if (total.stated == total.imported) {
            continue;
        }
        if (++named > trace::named_bad_lines) {
            return text + "; ...";
        }
        text += fmt::format("{}{}: {} by the log, {} imported", text.empty() ? "" : "; ", total.what, total.stated,
                            total.imported);
    }
    return text;
}

trace::TraceSummary summary_of(const trace::ImportSink& sink, const trace::ImportFormat& format, trace::Facts facts)
{
    std::vector<trace::StatedTotal> stated = sink.stated_totals();
    std::ranges::sort(stated, {}, &trace::StatedTotal::what);  // as they are read from the trace
    return {.totals = sink.accounting().totals(),
            .sizes = sink.accounting().sizes(),
            .lifetimes = sink.accounting().lifetimes(),
            .facts = std::move(facts),
            .ticks_per_second = format.ticks_per_second,
            .bad_lines = sink.bad_lines(),
            .stated_totals = std::move(stated)};
}

base::Expected<ExitCode> execute(const ImportCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {command.log}));
    trace::LogText log{MEMSWEEP_TRY(trace::open_log(command.log))};
    const auto format = trace::find_import_format(command.format, log.peek(trace::log_head_bytes), command.log);
    if (!format) {
        std::string other = command.format.empty() ? foreign_file(log.peek(foreign_head_bytes)) : "";
        if (!other.empty()) {
            return refuse(std::move(other), command.log);
        }
        return base::fail(log.failure() ? *log.failure() : format.error());
    }
    auto output = MEMSWEEP_TRY(TraceOutput::open(command.out));
    trace::TraceWriter writer{output.taker(), {.ticks_per_second = (*format)->ticks_per_second}};
    trace::ImportSink sink{writer};
    const auto imported = trace::import_log(
        **format, log, sink, {.name = command.log, .free_order = command.free_order, .uid = command.uid});
    if (!imported) {
        return base::fail(log.failure() ? *log.failure() : imported.error());
    }
    if (sink.bad_lines() != 0) {
        print_note(command.log + ": " + bad_lines_text(sink));
        if (command.strict) {
            return refuse("refused for its bad lines (--strict)", command.log);
        }
    }
    if (const std::string differing = differing_totals_text(sink); !differing.empty()) {
        print_note(fmt::format("{}: not all of it was understood: {}", command.log, differing));
        if (command.strict) {
            return refuse("refused for totals that it states otherwise (--strict)", command.log);
        }
    }
    trace::Facts facts{{"source", std::string{(*format)->name}},
                       {trace::bad_lines_fact, std::to_string(sink.bad_lines())},
                       {trace::ghosts_fact, std::to_string(sink.ghosts())}};
    facts.insert(sink.facts().begin(), sink.facts().end());
    trace::Facts written = facts;
    written.merge(trace::stated_facts(sink.stated_totals()));
    MEMSWEEP_TRY(writer.finish(written));
    MEMSWEEP_TRY(output.commit());
    if (command.out == "-" || (global.quiet && !command.json)) {
        return ExitCode::done;
    }
    const trace::TraceSummary summary = summary_of(sink, **format, facts);
    const std::string text =
        command.json ? reporters::to_json(summary) : reporters::to_terminal(summary, terminal_style(global));
    return print_text(text);
}

}  // namespace

void add_import(Command& root, const GlobalOptions& global)
{
    constexpr std::array<std::pair<std::string_view, trace::FreeOrder>, 3> free_orders{
        {{"lifo", trace::FreeOrder::lifo}, {"fifo", trace::FreeOrder::fifo}, {"random", trace::FreeOrder::random}}};
    Command& command = root.command("import", "Turn another tool's log into a trace");
    auto& import = arguments_of<ImportCommand>(command, global, execute);
    command.positional("log FILE", value::text(import.log), "A log, also compressed by gzip or zstd; - is stdin");
    command.required_option("-o,--out FILE", value::text(import.out), "The trace to write (.mst); - is stdout");
    command.option("--format FMT", value::word(import.format, value::names_in(trace::import_formats())),
                   "The log's format, if its first bytes do not tell");
    command.option("--heaptrack-order ORDER", value::choice(import.free_order, free_orders),
                   "Order in which blocks of one class are matched in a heaptrack log: lifo, fifo, random");
    command.option("--uid UID", value::number(import.uid, 0, UINT64_MAX),
                   "For logs of Umpire 4 and earlier: take only the events of this process");
    command.flag("--strict", import.strict,
                 "Refuse a log with bad lines, or with totals other than it states; by default bad lines are counted "
                 "and left out");
    command.flag("--json", import.json, "The totals as JSON");
    command.footer = "Exit codes: 0 imported; 2 unreadable, of an unknown format, or --strict and a line is bad or a "
                     "total differs.";
}

}  // namespace memsweep::app
