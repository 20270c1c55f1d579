#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/document_output.hpp"
#include "app/commands/explained_run.hpp"
#include "app/commands/explained_trace.hpp"
#include "app/commands/results.hpp"
#include "app/commands/work_end.hpp"
#include "core/sys/child_process.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

struct ExplainCommand {
    RunToExplain run;   // its command is empty where a trace is named
    std::string trace;  // empty: the command is run
    std::string format{"text"};
    std::string out;
    std::optional<measure::MemoryWord> fail_on;
};

std::array<std::pair<std::string_view, measure::MemoryWord>, measure::memory_words> verdict_words()
{
    std::array<std::pair<std::string_view, measure::MemoryWord>, measure::memory_words> words;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto word = static_cast<measure::MemoryWord>(i);
        words.at(i) = {measure::name_of(word), word};
    }
    return words;
}

reporters::TerminalStyle style_of_errors(const GlobalOptions& global)
{
    reporters::TerminalStyle style = terminal_style(global);
    style.color = style.color && (global.color == ColorMode::always || ::isatty(STDERR_FILENO) == 1);
    return style;
}

// Text goes beside what the program has printed itself.
ExitCode put_out(const ExplainCommand& command, const Explanation& explanation, const GlobalOptions& global)
{
    if (command.format == "text" && command.out.empty()) {
        std::fputs(reporters::to_terminal(explanation, style_of_errors(global)).c_str(), stderr);
        return ExitCode::done;
    }
    return write_document(explanation, command.format, command.out.empty() ? "-" : command.out, global);
}

ExitCode judged(const ExplainCommand& command, const Explanation& explanation, const GlobalOptions& global)
{
    const ExitCode written = put_out(command, explanation, global);
    const bool is_found = command.fail_on && explanation.verdict.word == *command.fail_on;
    return is_found ? worse(written, ExitCode::finding) : written;
}

std::string why_not_stopped(const RunToExplain& run, const std::vector<std::string>& started)
{
    if (!run.process.empty() && !started.empty()) {
        return fmt::format("the command has started no program of the name {}; those that began: {}", run.process,
                           fmt::join(started, ", "));
    }
    if (run.at.kind == AskedMoment::Kind::time) {
        return "the program had ended before that moment";
    }
    return run.end.has_sign() ? fmt::format("the program ended without the sign {}", model::to_text(run.end))
                              : "the program was gone before it could be stopped at its end";
}

base::Expected<ExitCode> execute(const ExplainCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {}));
    if (!command.trace.empty()) {
        if (::access(command.trace.c_str(), X_OK) == 0) {
            return refuse("is a program, not a trace: give it behind --", command.trace);
        }
        return judged(command, MEMSWEEP_TRY(explain_trace(command.trace, command.run.at, command.run.removed_sites)),
                      global);
    }
    const ExplainedRun ran = MEMSWEEP_TRY(explain_run(command.run));
    const int code = sys::shell_status(ran.status);
    ExitCode written = ExitCode::bad_input;
    if (!ran.explanation) {
        print_error({base::ErrorCode::os, why_not_stopped(command.run, ran.started), ""});
    } else if (!*ran.explanation) {
        print_error(ran.explanation->error());
    } else {
        written = judged(command, **ran.explanation, global);
    }
    return code != 0 ? static_cast<ExitCode>(code) : written;
}

}  // namespace

void add_explain(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("explain", "Say where a program's memory is, and what would return it");
    auto& explain = arguments_of<ExplainCommand>(command, global, execute);
    command.optional_positional("trace FILE", value::text(explain.trace),
                                "A trace (.mst) that was recorded with snapshots");
    command.words_behind_dashes("command CMD", value::command(explain.run.command),
                                "The program and its arguments to run and explain, behind --");
    command.group = "Question";
    command.option("--at MOMENT", value::offering(value::parsed(explain.run.at, read_moment), {"end", "peak"}),
                   "The moment to explain: end, peak (when the program held the most), or a time since its start, as "
                   "in 10s. Of a trace, the nearest snapshot is taken");
    command.option("--end-when SIGN", end_of_work(explain.run.end),
                   "When the work is done, which is the program's end here. SIGN is exit (default); file:PATH (the "
                   "program makes this file); line:REGEX (it prints such a line); or signal (it sends SIGUSR1 to the "
                   "pid in MEMSWEEP_PID). A program that is still running 2 s later is asked to end");
    command.option("--process NAME", value::text(explain.run.process),
                   "Explain the first process of this name that the command starts, instead of the command itself: for "
                   "a script that starts a server");
    command.option("--remove N", value::number(explain.run.removed_sites, 0, 1000),
                   "For this many top call sites, say how much memory their removal would return, by replays of the "
                   "recording without them (0: none)");
    command.group = "Output";
    command.format_option(explain.format, value::word(explain.format, {"text", "json", "md", "html"}),
                          "text, json, md or html");
    command.option("-o,--out FILE", value::text(explain.out),
                   "Where to write. By default, text goes to stderr and other formats to stdout");
    command.option("--fail-on WORD", value::choice(explain.fail_on, verdict_words()),
                   "Exit with 1 if this is the verdict, as in leak");
    command.footer = "The program is recorded with all its call stacks, and stopped once at its end (with --at peak: "
                     "at each new maximum). Replays follow after it has ended. The exit code is the command's (128+N "
                     "if signal N killed it). If that is 0: 0; 1 for --fail-on; 2 if the program cannot be recorded or "
                     "stopped, the trace has no such snapshot, or the output cannot be written.";
    command.check = [&explain]() -> base::Expected<void> {
        if (explain.run.command.empty() == explain.trace.empty()) {
            return refuse(explain.run.command.empty() ? "give a trace, or the program to run behind --"
                                                      : "give a trace or a program, not both",
                          "command");
        }
        if (explain.run.end.sign != model::EndSign::none &&
            (!explain.trace.empty() || explain.run.at.kind != AskedMoment::Kind::end)) {
            return refuse(explain.trace.empty() ? "is the end, and --at names another moment"
                                                : "is for a program that is run: a trace has its own mark of it",
                          "--end-when");
        }
        if (!explain.run.process.empty() && !explain.trace.empty()) {
            return refuse("is for a program that is run: a trace has snapshots of what it was recorded for",
                          "--process");
        }
        if (explain.trace == "-") {
            return refuse("a trace is read more than once: name a file", "trace");
        }
        return {};
    };
}

}  // namespace memsweep::app
