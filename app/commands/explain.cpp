#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/end_snapshot.hpp"
#include "app/commands/explaining.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/results.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/format/given_back.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "reporters/html/html_writer.hpp"
#include "reporters/json/subject_json.hpp"
#include "reporters/markdown/markdown_writer.hpp"
#include "reporters/terminal/terminal_writer.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

constexpr sys::PassingShape explained_folders{
    .before = "memsweep-explain-", .after = "", .tells_boot = false, .digits = 6};

struct ExplainCommand {
    std::vector<std::string> command;
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

sys::SpawnOptions recorded(const ExplainCommand& command, const std::string& library, const std::string& folder)
{
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload = others == nullptr || *others == '\0' ? library : fmt::format("{}:{}", library, others);
    return {.argv = command.command,
            .environment = {
                {"LD_PRELOAD", preload},
                {trace::recording_folder_variable, folder},
                {trace::recording_options_variable,
                 fmt::format("stacks,give-back,namespace={},only-child-of={}", own_pid_namespace(), ::getpid())}}};
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
    const std::string path = command.out.empty() ? "-" : command.out;
    if (command.format == "json") {
        return write_text(reporters::to_json(explanation), path);
    }
    if (command.format == "md") {
        return write_text(reporters::to_markdown(explanation), path);
    }
    return write_text(command.format == "html" ? reporters::to_html(explanation)
                                               : reporters::to_terminal(explanation, terminal_style(global)),
                      path);
}

// A program that is run to be explained.
class ExplainedRun {
  public:
    ExplainedRun(const ExplainCommand& command, RecordedBy recorded, ProgramCopy copy)
        : command_{command}, recorded_{std::move(recorded)}, copy_{std::move(copy)}
    {
    }

    base::Expected<sys::ExitStatus> run()
    {
        sys::ProgramStops stops{.at_end = [this](const sys::StoppedEnd& end) { take_end(end); },
                                .call_mark = trace::tracer_call_mark,
                                .at_call = [this](const sys::StoppedMoment& moment,
                                                  std::uint32_t call) { take_call(moment, call); }};
        return sys::StoppedAtEnd::run(recorded(command_, recorded_.library, recorded_.folder), stops);
    }

    // Once it has ended so; absent: it was gone before it could be stopped.
    std::optional<base::Expected<Explanation>> explanation(const sys::ExitStatus& status)
    {
        if (!explained_ && snapshot_) {
            explain(snapshot_.has_value() && copy_.is_there() ? copy_.memory() : nullptr,
                    "The copy of the program may not be read here");
        }
        if (explained_ && *explained_) {
            (*explained_)->ended_by = status.describe();
        }
        return std::move(explained_);
    }

  private:
    using Clock = std::chrono::steady_clock;

    void take(pid_t process, pid_t thread, Clock::time_point since)
    {
        auto taken = take_snapshot(recorded_, process, thread, trace::SnapshotAt::end);
        if (!taken) {
            explained_ = base::fail(taken.error());
            return;
        }
        explained_.reset();
        snapshot_ = *std::move(taken);
        since_ = since;
        process_ = process;
        others_ = other_processes(process);
        stood();
    }

    void stood()
    {
        snapshot_->stopped_nanoseconds = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since_).count());
    }

    void take_call(const sys::StoppedMoment& moment, std::uint32_t call)
    {
        if (call == trace::tracer_call_look) {
            take(moment.process, moment.thread, moment.since);
        } else if ((call & trace::tracer_call_copied) != 0 && snapshot_ && !copy_.is_there()) {
            copy_.take(moment.process, static_cast<pid_t>(call & trace::tracer_call_number));
            stood();
        }
    }

    // Of a program that has not called, there is no copy: what its memory holds is read while it stands.
    void take_end(const sys::StoppedEnd& end)
    {
        if (snapshot_) {
            return;
        }
        take(end.process, end.thread, end.since);
        if (!snapshot_) {
            return;
        }
        const auto memory = sys::ForeignMemory::open(end.thread);
        explain(memory ? &*memory : nullptr, "The program's memory may not be read here");
        stood();
        if (explained_ && *explained_) {
            constexpr double nanoseconds = 1e9;
            (*explained_)->stopped_seconds = static_cast<double>(snapshot_->stopped_nanoseconds) / nanoseconds;
        }
    }

    void explain(const sys::ForeignMemory* memory, std::string why_no_memory)
    {
        const ExplainedMoment moment{.command = command_.command,
                                     .at = "end",
                                     .snapshot = &*snapshot_,
                                     .memory = memory,
                                     .why_no_memory = std::move(why_no_memory),
                                     .ask = [this] { return copy_.ask(process_); },
                                     .others = others_,
                                     .warnings = {}};
        const std::string path = recorded_.folder + "/end.trace";
        explained_ = assemble_trace(recorded_.folder, path).and_then([&] { return explain_moment(path, moment); });
    }

    const ExplainCommand& command_;
    RecordedBy recorded_;
    ProgramCopy copy_;
    pid_t process_{};
    Clock::time_point since_;
    OtherProcesses others_;
    std::optional<trace::Snapshot> snapshot_;
    std::optional<base::Expected<Explanation>> explained_;
};

base::Expected<ExitCode> execute(const ExplainCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {}));
    MEMSWEEP_TRY(sys::can_be_preloaded(command.command));
    const std::string library = MEMSWEEP_TRY(recorder_library());
    MEMSWEEP_TRY(sys::can_trace());
    const auto folder = sys::PassingFolder::make(explained_folders);
    if (!folder) {
        return base::fail(base::os_error("cannot make a folder", errno, sys::PassingFolder::parent()));
    }
    MEMSWEEP_TRY(check_room(folder->path()));
    ExplainedRun program{command, {library, folder->path()}, MEMSWEEP_TRY(ProgramCopy::await(folder->path()))};
    const sys::ExitStatus status = MEMSWEEP_TRY(program.run());
    const auto explained = program.explanation(status);
    const int code = sys::shell_status(status);
    ExitCode written = ExitCode::bad_input;
    if (!explained) {
        print_error({base::ErrorCode::os, "the program was gone before it could be stopped at its end", ""});
    } else if (!*explained) {
        print_error(explained->error());
    } else {
        const Explanation& explanation = **explained;
        written = put_out(command, explanation, global);
        if (command.fail_on && explanation.verdict.word == *command.fail_on) {
            written = worse(written, ExitCode::finding);
        }
    }
    return code != 0 ? static_cast<ExitCode>(code) : written;
}

}  // namespace

void add_explain(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("explain", "Where a program's memory is at its end, and what would give it back");
    auto& explain = arguments_of<ExplainCommand>(command, global, execute);
    command.positional("command CMD", value::texts(explain.command), "The program and its arguments, behind --");
    command.format_option(explain.format, value::word(explain.format, {"text", "json", "md", "html"}),
                          "text, json, md or html");
    command.option("-o,--out FILE", value::text(explain.out),
                   "Where to write; without it text goes to stderr, beside what the program prints, and the rest to "
                   "stdout");
    command.option("--fail-on WORD", value::choice(explain.fail_on, verdict_words()),
                   "Exit with 1 when this is the verdict, as in leak");
    command.footer =
        "The program is recorded with all its call stacks and stopped once, at its end. Exits with the status of the "
        "program (128+N when signal N killed it); of one that ends with 0: 0, 1 with --fail-on, or 2: it cannot be "
        "recorded or stopped, or the output cannot be written.";
}

}  // namespace memsweep::app
