#include <fmt/format.h>

#include "app/commands.hpp"
#include "app/recording.hpp"
#include "core/sys/foreground_command.hpp"
#include "core/sys/output_target.hpp"
#include "core/sys/preloadable.hpp"
#include "reporters/value_text.hpp"

namespace memsweep::app {
namespace {

trace::Facts facts_of(const RecordCommand& command)
{
    trace::Facts facts{{"source", "memsweep record"}};
    if (!command.command.empty()) {
        facts["command"] = reporters::command_line(command.command);
    }
    if (command.choice.min_size_bytes > 0) {
        facts["min_size"] = std::to_string(command.choice.min_size_bytes);
    }
    if (command.choice.sample > 1) {
        facts["sample"] = std::to_string(command.choice.sample);
    }
    return facts;
}

std::string processes_text(std::uint64_t count)
{
    return fmt::format("{} {}", count, count == 1 ? "process" : "processes");
}

void say_what_is_missing(const trace::RecordingSummary& summary, const std::string& out)
{
    if (summary.stopped_errno != 0) {
        print_note(fmt::format("{}: {}; what came before is in the trace", out,
                               sys::io_error("recording stopped early", summary.stopped_errno, out).message));
    }
    if (summary.lost_events != 0) {
        print_note(fmt::format("{}: {} events could not be recorded", out, summary.lost_events));
    }
    if (summary.damaged_chunks != 0) {
        print_note(fmt::format("{}: {} damaged chunks left out", out, summary.damaged_chunks));
    }
    if (summary.still_running != 0) {
        print_note(fmt::format("{}: {} still running, recorded up to now", out, processes_text(summary.still_running)));
    }
    if (summary.foreign_mallocs != 0) {
        print_note(fmt::format("{}: {} of {} programs bring their own malloc, whose calls cannot be recorded", out,
                               summary.foreign_mallocs, summary.images));
    }
}

// What was recorded stays in its folder when it cannot be written elsewhere.
base::Expected<ExitCode> finish(const RecordCommand& command, const std::string& folder, const GlobalOptions& global)
{
    const auto summary = assemble_recording(folder, command.out, facts_of(command));
    if (!summary) {
        base::Error error = summary.error();
        if (error.code == base::ErrorCode::io) {
            error.message += fmt::format("; what was recorded is kept in {0}: free some room, then `memsweep record "
                                         "--recover {0} -o FILE`",
                                         folder);
        }
        return base::fail(std::move(error));
    }
    if (summary->still_running == 0 || command.recover.empty()) {
        remove_recording(folder);
    }
    say_what_is_missing(*summary, command.out);
    if (!global.quiet) {
        print_note(fmt::format("{}: {}, {}", command.out, reporters::plural(summary->events, "event"),
                               processes_text(summary->processes)));
    }
    return summary->stopped_errno != 0 ? ExitCode::bad_input : ExitCode::done;
}

base::Expected<ExitCode> record(const RecordCommand& command, const GlobalOptions& global)
{
    if (const auto possible = sys::can_be_preloaded(command.command); !possible) {
        return base::fail(possible.error());
    }
    const auto folder = make_recording_folder(command.out);
    if (!folder) {
        return base::fail(folder.error());
    }
    const auto environment = recording_environment(*folder, command.choice);
    if (!environment) {
        remove_recording(*folder);
        return base::fail(environment.error());
    }
    auto running = sys::ForegroundCommand::start(command.command, *environment);
    if (!running) {
        remove_recording(*folder);
        return base::fail(running.error());
    }
    const int status = sys::shell_status(running->wait());
    const auto finished = finish(command, *folder, global);
    if (!finished) {
        print_error(finished.error());
    }
    const ExitCode code = finished ? *finished : ExitCode::bad_input;
    return status != 0 ? static_cast<ExitCode>(status) : code;
}

}  // namespace

ExitCode execute(const RecordCommand& command, const GlobalOptions& global)
{
    const auto code = command.recover.empty() ? record(command, global) : finish(command, command.recover, global);
    if (!code) {
        print_error(code.error());
        return ExitCode::bad_input;
    }
    return *code;
}

}  // namespace memsweep::app
