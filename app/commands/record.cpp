#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/program_hints.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/recording_clock.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/sealing.hpp"
#include "app/commands/snapshots.hpp"
#include "app/commands/traces.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/expected.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/signals.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/file_lender.hpp"
#include "core/trace/recording.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::app {
namespace {

constexpr std::chrono::milliseconds between_looks{50};

struct RecordingChoice {
    std::uint64_t min_size_bytes{};
    std::uint64_t sample{1};
    bool no_children{};
    bool stacks{};
    std::uint64_t stacks_every{};  // bytes; 0: of all allocations
};

// What a command needs in its environment to be recorded there.
base::Expected<std::vector<std::pair<std::string, std::string>>> recording_environment(const std::string& folder,
                                                                                       const RecordingChoice& choice)
{
    const std::string library = MEMSWEEP_TRY(recorder_library());
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload = others == nullptr || *others == '\0' ? library : fmt::format("{}:{}", library, others);
    std::string options =
        fmt::format("min-size={},sample={},namespace={}", choice.min_size_bytes, choice.sample, own_pid_namespace());
    if (choice.stacks) {
        options += choice.stacks_every == 0 ? ",stacks" : fmt::format(",stacks={}", choice.stacks_every);
    }
    if (choice.no_children) {
        options += fmt::format(",only-child-of={}", ::getpid());
    }
    return std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", preload},
                                                            {trace::recording_folder_variable, folder},
                                                            {trace::recording_options_variable, options}};
}

base::Expected<void> read_stacks_choice(const std::string& text, RecordingChoice& choice)
{
    constexpr std::uint64_t most = 1ULL << 40U;
    choice.stacks = true;
    choice.stacks_every = 0;
    if (text == "full") {
        return {};
    }
    choice.stacks_every = MEMSWEEP_TRY(base::parse_size(text));
    if (choice.stacks_every == 0 || choice.stacks_every > most) {
        return base::fail(base::ErrorCode::invalid_input,
                          fmt::format("\"{}\" is not between 1 B and 1 TiB: give full to have them all", text));
    }
    return {};
}

struct RecordCommand {
    std::vector<std::string> command;
    std::string out;
    RecordingChoice choice;
    SnapshotChoice snapshots;
    model::EndOfWork end;
    std::string recover;  // the folder of a recording that was cut off; empty: record
};

trace::Facts facts_of(const RecordCommand& command, const LeftRecordings& found)
{
    trace::Facts facts{{"source", "memsweep record"}};
    trace::put_unrecorded(found.unrecorded, facts);
    if (!command.command.empty()) {
        facts["command"] = reporters::command_line(command.command);
    }
    if (command.choice.min_size_bytes > 0) {
        facts["min_size"] = std::to_string(command.choice.min_size_bytes);
    }
    if (command.choice.stacks) {
        facts["stacks"] = command.choice.stacks_every == 0 ? "full" : std::to_string(command.choice.stacks_every);
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
        print_note(fmt::format("{}: {} could not be recorded", out, measure::counted(summary.lost_events, "event")));
    }
    if (summary.damaged_chunks != 0) {
        print_note(fmt::format("{}: {} left out", out, measure::counted(summary.damaged_chunks, "damaged chunk")));
    }
    if (summary.stacks_errno != 0 || summary.lost_stacks != 0) {
        const int problem = summary.stacks_errno != 0 ? summary.stacks_errno : ENOSPC;
        const std::string what = summary.lost_stacks == 0 ? "call stacks of a process could not be kept"
                                                          : fmt::format("{} without their call stacks",
                                                                        measure::counted(summary.lost_stacks, "event"));
        print_note(fmt::format("{}: {}", out, sys::io_error(what, problem, out).message));
    }
    if (summary.still_running != 0) {
        print_note(fmt::format("{}: {} still running, recorded up to now", out, processes_text(summary.still_running)));
    }
}

void say_what_was_left_out(const LeftRecordings& found, const std::string& out)
{
    if (found.refused != 0) {
        print_note(sys::io_error(fmt::format("{}: {} could not be recorded", out, processes_text(found.refused)),
                                 found.refused_errno, out)
                       .message);
    }
    if (!found.unrecorded.empty()) {
        print_note(fmt::format("{}: {} ran without the recorder, so that what {} allocated is missing: {}", out,
                               measure::counted(found.unrecorded.size(), "program"),
                               found.unrecorded.size() == 1 ? "it" : "they", trace::describe(found.unrecorded)));
    }
    if (found.not_noted != 0) {
        print_note(fmt::format("{}: of {} more that were started it is not known whether they were recorded", out,
                               measure::counted(found.not_noted, "program")));
    }
    for (const base::Error& error : found.not_read) {
        print_note(fmt::format("{}; it is left out, and stays", base::describe(error)));
    }
}

base::Error nothing_recorded(const LeftRecordings& found, const std::string& out)
{
    if (!found.not_read.empty()) {
        return found.not_read.front();
    }
    if (found.refused != 0) {
        return sys::io_error("nothing was recorded", found.refused_errno, out);
    }
    return {base::ErrorCode::not_supported,
            "nothing was recorded: no process of the program loaded the recorder, or none may write beside this file",
            out};
}

base::Error kept(base::Error error, const std::string& folder)
{
    error.message += fmt::format("; what was recorded is kept in {0}: once that is mended, `memsweep record --recover "
                                 "{0} -o FILE` makes the trace",
                                 folder);
    return error;
}

using MakeTrace =
    std::function<base::Expected<trace::RecordingSummary>(LeftRecordings& found, const trace::ClockReading& now)>;

// What was recorded stays in its folder when it cannot be written elsewhere.
base::Expected<ExitCode> finish(const RecordCommand& command, const std::string& folder, const GlobalOptions& global,
                                const trace::TreeLooks& looks, const MakeTrace& make_trace)
{
    const trace::ClockReading now = trace::read_clocks();
    auto found = recordings_in(folder, looks);
    if (!found) {
        return base::fail(command.recover.empty() ? kept(found.error(), folder) : found.error());
    }
    if (found->images.empty() && !found->unfinished) {
        remove_recording(folder, found->taken);
        const base::Error error = nothing_recorded(*found, command.out);
        return base::fail(found->not_read.empty() ? error : kept(error, folder));
    }
    const auto summary = make_trace(*found, now);
    if (!summary) {
        return base::fail(kept(summary.error(), folder));
    }
    if (summary->still_running == 0 || command.recover.empty()) {
        found->taken.push_back(unfinished_trace_in(folder));  // the last: until then it can be made into a trace
        remove_recording(folder, found->taken);
    }
    say_what_is_missing(*summary, command.out);
    say_what_was_left_out(*found, command.out);
    if (summary->may_have_unseen_blocks) {
        if (auto reader = trace::TraceReader::open(command.out)) {
            note_unseen_blocks(command.out, trace::summarize(*reader));
        }
    }
    if (!global.quiet) {
        print_note(fmt::format("{}: {}, {}", command.out, reporters::plural(summary->events, "event"),
                               processes_text(summary->processes)));
    }
    const bool whole = summary->stopped_errno == 0 && found->refused == 0 && found->not_read.empty() &&
                       found->unrecorded.empty() && found->not_noted == 0;
    return whole ? ExitCode::done : ExitCode::bad_input;
}

// Whoever is asked to stop while it finishes leaves the rest to --recover.
base::Expected<void> unless_stopped(const std::string& out)
{
    return sys::stop_signal_waits() ? base::Expected<void>{base::fail(sys::io_error("cannot write", EINTR, out))}
                                    : base::Expected<void>{};
}

base::Expected<trace::RecordingSummary> complete_trace(const RecordCommand& command, LeftRecordings& found,
                                                       const trace::ClockReading& now, GrowingTrace& trace,
                                                       trace::TraceProgress progress)
{
    std::vector<trace::RecordedImage> images = std::move(found.images);
    if (images.empty()) {
        return base::fail(base::ErrorCode::io, "the recordings are gone", command.out);
    }
    const trace::FileHeader header = trace::trace_header(images, now);
    const trace::TakeBytes take = [&, put = trace.taker()](std::string_view bytes) -> base::Expected<void> {
        MEMSWEEP_TRY(unless_stopped(command.out));
        return put(bytes);
    };
    MEMSWEEP_TRY(put_snapshots(found.snapshots, take));
    auto summary =
        MEMSWEEP_TRY(trace::put_rest(images, is_running, take, facts_of(command, found), std::move(progress)));
    MEMSWEEP_TRY(unless_stopped(command.out));
    MEMSWEEP_TRY(trace.finish(header, command.out));
    return summary;
}

// The end of the work (--end-when) in a recording; nobody may have asked for it.
class MarkedEnd {
  public:
    explicit MarkedEnd(const model::EndOfWork& end)
    {
        if (end.has_sign()) {
            end_.emplace(end);
        }
    }
    base::Expected<void> prepare(sys::SpawnOptions& program)
    {
        return end_ ? end_->prepare(program) : base::Expected<void>{};
    }
    void record_to(std::string folder) { folder_ = std::move(folder); }
    // How often look() is wanted.
    [[nodiscard]] std::chrono::nanoseconds pause() const
    {
        return end_ ? std::chrono::nanoseconds{WorkEnd::pause} : std::chrono::nanoseconds{between_looks};
    }
    // True once: this is the moment to mark.
    [[nodiscard]] bool look(pid_t process) { return end_ && end_->look(process); }
    void mark()
    {
        is_marked_ = true;
        if (const auto marked = mark_end_of_work(folder_, end_->text()); !marked) {
            problem_ = marked.error();
        }
    }
    // A program that has ended, or is about to, may have given a sign that nobody has seen yet.
    void mark_at_exit()
    {
        if (end_ && !is_marked_ && end_->has_come()) {
            mark();
        }
    }
    sys::ExitStatus finish(const sys::ExitStatus& ended)
    {
        if (!end_) {
            return ended;
        }
        end_->finish();
        mark_at_exit();
        return end_->judged(ended);
    }
    // False, and says so: there is no mark, though one was asked for.
    [[nodiscard]] bool has_worked(const std::string& out) const
    {
        if (end_ && problem_) {
            print_note(fmt::format("{}: the end of the work is not marked: {}", out, base::describe(*problem_)));
        } else if (end_ && !is_marked_) {
            print_note(
                fmt::format("{}: the program ended without the sign {}: its end is its exit", out, end_->text()));
        }
        return !end_ || (!problem_ && is_marked_);
    }

  private:
    std::optional<WorkEnd> end_;
    std::string folder_;
    bool is_marked_{};
    std::optional<base::Error> problem_;
};

// Calls `look_at` no more often than that.
std::function<void(pid_t)> now_and_then(const std::function<void(pid_t)>& look_at)
{
    return [&look_at, next = std::chrono::steady_clock::time_point{}](pid_t process) mutable {
        if (std::chrono::steady_clock::now() >= next) {
            look_at(process);
            next = std::chrono::steady_clock::now() + between_looks;
        }
    };
}

base::Expected<sys::ExitStatus> run_recorded(const sys::SpawnOptions& program,
                                             const std::function<void()>& begin_sealing,
                                             const std::function<void(pid_t)>& look_at, MarkedEnd& end)
{
    auto running = MEMSWEEP_TRY(sys::ForegroundCommand::start({.program = program, .as_child = true}));
    begin_sealing();
    const auto look_around = now_and_then(look_at);
    return running.wait(end.pause(), [&] {
        look_around(running.pid());
        if (end.look(running.pid())) {
            end.mark();
        }
    });
}

base::Expected<sys::ExitStatus> run_with_snapshots(const RecordCommand& command, const sys::SpawnOptions& program,
                                                   const std::string& folder,
                                                   const std::function<void()>& begin_sealing,
                                                   const std::function<void(pid_t)>& look_at, MarkedEnd& end)
{
    MEMSWEEP_TRY(sys::can_trace());
    SnapshotsMeanwhile snapshots{{MEMSWEEP_TRY(recorder_library()), folder}, command.snapshots};
    sys::ProgramStops stops = snapshots.stops(end.pause());
    bool is_end_due = false;
    stops.meanwhile = [&, take = std::move(stops.meanwhile), look_around = now_and_then(look_at)](pid_t process) {
        look_around(process);
        is_end_due = end.look(process) || is_end_due;
        return take(process) || is_end_due;
    };
    stops.at_asked = [&, take = std::move(stops.at_asked)](const sys::StoppedMoment& moment) {
        if (std::exchange(is_end_due, false)) {
            end.mark();
            snapshots.take_end(moment);
        } else {
            take(moment);
        }
    };
    stops.at_end = [&, take = std::move(stops.at_end)](const sys::StoppedEnd& ended) {
        end.mark_at_exit();
        take(ended);
    };
    begin_sealing();
    const sys::ExitStatus status = MEMSWEEP_TRY(sys::StoppedAtEnd::run(program, stops));
    snapshots.finish();
    if (snapshots.problem()) {
        print_note(fmt::format("{}: {} could not be kept: {}", command.out,
                               measure::counted(snapshots.lost(), "snapshot"), base::describe(*snapshots.problem())));
    }
    return status;
}

base::Expected<ExitCode> record(const RecordCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(sys::can_be_preloaded(command.command));
    const std::string program = sys::find_program(command.command.front());
    const char* const options = std::getenv("ASAN_OPTIONS");  // NOLINT(concurrency-mt-unsafe): nothing sets variables
    const bool may_come_later =
        options != nullptr && std::string_view{options}.find("verify_asan_link_order=0") != std::string_view::npos;
    if (const std::string sanitizer = may_come_later ? "" : sanitizer_library(program); !sanitizer.empty()) {
        return refuse(fmt::format("it is linked to {}, which must be loaded before the recorder and serves malloc "
                                  "itself: it cannot be recorded. Build it without -fsanitize=address",
                                  sanitizer),
                      program);
    }
    sys::SpawnOptions program_options{.argv = command.command};
    MarkedEnd end{command.end};
    MEMSWEEP_TRY(end.prepare(program_options));
    const std::string folder = MEMSWEEP_TRY(make_recording_folder(command.out));
    end.record_to(folder);
    const auto environment = check_room(folder).and_then([&] { return recording_environment(folder, command.choice); });
    if (!environment) {
        remove_recording(folder);
        return base::fail(environment.error());
    }
    trace::make_starts(folder);
    trace::FileLender lender{folder};
    RecordingClock clock{folder};
    trace::TreeLooks looks{MEMSWEEP_TRY(recorder_library())};
    std::optional<GrowingTrace> trace;
    std::optional<SealingMeanwhile> sealing;
    const auto begin_sealing = [&] {
        trace.emplace(unfinished_trace_in(folder));
        sealing.emplace(folder, *trace);
    };
    const auto look_at = [&](pid_t process) {
        if (!command.choice.no_children) {
            std::vector<pid_t> processes = sys::descendants_of(process);
            processes.push_back(process);
            looks.look(processes);
        }
    };
    program_options.environment.insert(program_options.environment.end(), environment->begin(), environment->end());
    const auto ended = command.snapshots.is_on()
                           ? run_with_snapshots(command, program_options, folder, begin_sealing, look_at, end)
                           : run_recorded(program_options, begin_sealing, look_at, end);
    if (!ended) {
        sealing.reset();
        remove_recording(folder, {trace::starts_in(folder), clock_in(folder), unfinished_trace_in(folder)});
        return base::fail(ended.error());
    }
    const int status = sys::shell_status(end.finish(*ended));
    lender.finish();
    clock.finish();
    const sys::StopSignals signals;  // those that come from here on are for us
    trace::TraceProgress progress = sealing->finish();
    const auto complete = [&](LeftRecordings& found, const trace::ClockReading& now) {
        return complete_trace(command, found, now, *trace, std::move(progress));
    };
    ExitCode code = settled(finish(command, folder, global, looks, complete));
    code = end.has_worked(command.out) ? code : worse(code, ExitCode::bad_input);
    static_cast<void>(signals.pending());  // it has had its effect
    return status != 0 ? static_cast<ExitCode>(status) : code;
}

base::Expected<trace::RecordingSummary> recover_trace(const RecordCommand& command, LeftRecordings& found,
                                                      const trace::ClockReading& now)
{
    std::optional<trace::UnfinishedTrace> unfinished;
    if (found.unfinished) {
        const auto read = MEMSWEEP_TRY(trace::open_part_of_recording(*found.unfinished));
        unfinished = MEMSWEEP_TRY(trace::UnfinishedTrace::open(read, *found.unfinished));
    }
    auto output = MEMSWEEP_TRY(TraceOutput::open(command.out));
    auto summary = MEMSWEEP_TRY(trace::assemble(std::move(found.images), now, is_running, output.taker(),
                                                facts_of(command, found), unfinished));
    MEMSWEEP_TRY(put_snapshots(found.snapshots, output.taker()));
    MEMSWEEP_TRY(output.commit());
    return summary;
}

base::Expected<ExitCode> execute(const RecordCommand& command, const GlobalOptions& global)
{
    if (command.recover.empty()) {
        return record(command, global);
    }
    return finish(
        command, command.recover, global, trace::TreeLooks{""},
        [&](LeftRecordings& found, const trace::ClockReading& now) { return recover_trace(command, found, now); });
}

}  // namespace

void add_record(Command& root, const GlobalOptions& global)
{
    constexpr std::uint64_t largest_sample = 1'000'000;
    Command& command = root.command("record", "Record the allocations of a program and its children");
    auto& record = arguments_of<RecordCommand>(command, global, execute);
    command.optional_positional("command CMD", value::command(record.command),
                                "The program and its arguments, behind --");
    command.required_option("-o,--out FILE", value::text(record.out), "The trace to write (.mst)");
    command.option("--min-size SIZE", value::size(record.choice.min_size_bytes),
                   "Record only blocks of at least this usable size, as in 4KiB");
    command.option("--sample N", value::number(record.choice.sample, 1, largest_sample),
                   "Record one block of every N, chosen by address");
    command.option(
        "--stacks [=full|SIZE]",
        value::alone_meaning(
            value::each([&record](const std::string& text) { return read_stacks_choice(text, record.choice); }),
            "full"),
        "Also record the call stack of every allocation; with a SIZE, of one sample for every SIZE bytes on average");
    command.flag("--no-children", record.choice.no_children,
                 "Record only the program itself, not the processes that it starts");
    command.option("--recover DIR", value::text(record.recover),
                   "Instead of recording, make a trace from the folder of a recording that was cut off");
    command.option(
        "--end-when SIGN", end_of_work(record.end),
        "Mark in the trace when the work is done; replay, whatif, report and snapshots take this for the end. SIGN is "
        "exit (default); file:PATH (the program makes this file); line:REGEX (it prints such a line); or signal (it "
        "sends SIGUSR1 to the pid in MEMSWEEP_PID). A program that is still running 2 s later is asked to end");
    command.group = "Snapshots";
    command.flag("--snapshot-at-end", record.snapshots.at_end,
                 "Also store where the program's memory is when its work is done, for memsweep explain TRACE");
    command.option(
        "--snapshot-every DUR", value::duration(record.snapshots.every),
        "Also store where its memory is at this interval, as in 10s; the program is stopped for each snapshot");
    command.footer = "The exit code is the program's (128+N if signal N killed it), or 2: the program cannot be "
                     "recorded, one of its processes ran without the recorder, the trace cannot be written whole, or "
                     "the sign of --end-when never came.";
    command.check = [&record]() -> base::Expected<void> {
        if (record.command.empty() == record.recover.empty()) {
            return record.command.empty() ? refuse("give the program to record behind --", "command")
                                          : refuse("records nothing: leave the program out", "--recover");
        }
        if (!record.recover.empty() && record.end.sign != model::EndSign::none) {
            return refuse("is for a program that runs", "--end-when");
        }
        if (record.snapshots.every.count() < 0) {
            return refuse("must be above 0", "--snapshot-every");
        }
        if (record.snapshots.is_on() && (record.choice.sample > 1 || record.choice.min_size_bytes > 0)) {
            return refuse("what lies on a page is not known without all blocks: leave --sample and --min-size out",
                          record.snapshots.at_end ? "--snapshot-at-end" : "--snapshot-every");
        }
        if (record.out == "-") {
            return refuse("the standard output belongs to the program: name a file", "--out");
        }
        return {};
    };
}

}  // namespace memsweep::app
