#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <new>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/traces.hpp"
#include "core/base/expected.hpp"
#include "core/base/quantity.hpp"
#include "core/measure/format.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/trace/recording.hpp"
#include "reporters/document/table.hpp"

namespace memsweep::app {
namespace {

struct RecordingChoice {
    std::uint64_t min_size_bytes{};
    std::uint64_t sample{1};
    bool no_children{};
};

namespace fs = std::filesystem;

// What recorders left in a folder.
struct LeftRecordings {
    std::vector<trace::RecordedImage> images;
    std::vector<std::string> taken;     // files and links that are of no more use once there is a trace
    std::vector<base::Error> not_read;  // why a file of the folder is not among the images: it stays
    std::uint64_t refused{};            // processes for which no file could be made, the last of them for this reason
    int refused_errno{};
};

base::Expected<std::vector<fs::path>> entries_of(const std::string& folder)
{
    std::vector<fs::path> paths;
    std::error_code problem;
    fs::directory_iterator at{folder, problem};
    for (; !problem && at != fs::directory_iterator{}; at.increment(problem)) {
        paths.push_back(at->path());
    }
    if (problem) {
        return base::fail(sys::io_error("cannot read", problem.value(), folder));
    }
    return paths;
}

void take_recording(const std::string& path, LeftRecordings& into)
{
    auto image = trace::find_image([path] { return trace::open_for_reading(path); }, path);
    if (!image) {
        into.not_read.push_back(image.error());
        return;
    }
    into.taken.push_back(path);
    if (*image) {
        into.images.push_back(**std::move(image));
    }
}

void take_refusal(const fs::path& path, LeftRecordings& into)
{
    std::error_code problem;
    const std::string cause = fs::read_symlink(path, problem).string();
    if (const auto number = base::parse_number(cause); number && *number <= INT_MAX) {
        into.taken.push_back(path.string());
        into.refused_errno = static_cast<int>(*number);
        ++into.refused;
    }
}

base::Expected<LeftRecordings> recordings_in(const std::string& folder)
{
    const std::vector<fs::path> paths = MEMSWEEP_TRY(entries_of(folder));
    LeftRecordings found;
    for (const fs::path& path : paths) {
        if (path.extension() == ".mst") {
            take_recording(path.string(), found);
        } else if (path.extension() == ".refused") {
            take_refusal(path, found);
        }
    }
    return found;
}

// A zombie has ended.
bool is_running(std::uint32_t process)
{
    const std::string text = sys::read_word(fmt::format("/proc/{}/stat", process));
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z' &&
           text[name_end + 2] != 'X';
}

// The folder OUT.recording that recorders write to while their processes run. It is new; one that an earlier recording
// left behind is refused. It stays until its trace is written whole, so that a full disk loses nothing.
base::Expected<std::string> make_recording_folder(const std::string& out)
{
    std::error_code problem;
    const std::string folder = fs::absolute(out + ".recording", problem).lexically_normal().string();
    if (::mkdir(folder.c_str(), 0700) == 0) {
        return folder;
    }
    if (errno == EEXIST) {
        return base::fail(base::ErrorCode::io,
                          fmt::format("is left from a recording that was cut off: make a trace of it with `memsweep "
                                      "record --recover {} -o FILE`, or remove it",
                                      folder),
                          folder);
    }
    return base::fail(sys::io_error("cannot make the folder", errno, folder));
}

// Shows that the first process can be recorded there, before hours are spent on a program that is not.
base::Expected<void> check_room(const std::string& folder)
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < trace::least_reach_bytes) {
        return base::fail(sys::io_error(
            fmt::format("files there must reach {}", base::exact_size(trace::least_reach_bytes)), EFBIG, folder));
    }
    auto file = sys::TempFile::create_in(folder);
    const int problem = file ? file->reserve(trace::least_room_bytes) : errno;
    if (problem != 0) {
        return base::fail(sys::io_error("no room to record in", problem, folder));
    }
    return {};
}

// Seals what recorders write to a folder, on processors that are idle (SCHED_IDLE), while the command runs: there is
// less left to do when it has ended. Without memory or a thread to spare all of it is left.
class SealingMeanwhile {
  public:
    explicit SealingMeanwhile(const std::string& folder)
    {
        try {
            thread_ = std::jthread{[this, folder](const std::stop_token& stop) { seal(folder, stop); }};
        } catch (const std::system_error&) {
            return;
        }
    }

    const trace::SealedAhead& finish()
    {
        if (thread_.joinable()) {
            constexpr sched_param none{};
            thread_.request_stop();
            ::pthread_setschedparam(thread_.native_handle(), SCHED_OTHER, &none);  // we wait for it: root may
            thread_.join();
        }
        return ahead_;
    }

  private:
    void seal(const std::string& folder, const std::stop_token& stop)
    {
        constexpr std::chrono::milliseconds shortest_pause{10};
        constexpr std::chrono::milliseconds longest_pause{500};
        constexpr sched_param none{};
        ::sched_setscheduler(0, SCHED_IDLE, &none);
        std::mutex mutex;
        std::unique_lock lock{mutex};
        std::condition_variable_any woken;
        auto pause = shortest_pause;
        try {
            while (!woken.wait_for(lock, stop, pause, [] { return false; }) && !stop.stop_requested() &&
                   !ahead_.is_full()) {
                pause = go_on(folder, stop) ? shortest_pause : std::min(pause * 2, longest_pause);
            }
        } catch (const std::bad_alloc&) {
            return;
        }
    }

    bool go_on(const std::string& folder, const std::stop_token& stop)
    {
        bool has_grown = false;
        for (const fs::path& path : entries_of(folder).value_or(std::vector<fs::path>{})) {
            if (path.extension() == ".mst") {
                const auto open = [&] { return trace::open_for_reading(path.string()); };
                has_grown = ahead_.go_on(open, path.string(), stop) || has_grown;
            }
        }
        return has_grown;
    }

    trace::SealedAhead ahead_;
    std::jthread thread_;
};

// What a command needs in its environment to be recorded there.
base::Expected<std::vector<std::pair<std::string, std::string>>> recording_environment(const std::string& folder,
                                                                                       const RecordingChoice& choice)
{
    const std::string library = MEMSWEEP_TRY(recorder_library());
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload = others == nullptr || *others == '\0' ? library : fmt::format("{}:{}", library, others);
    std::string options = fmt::format("min-size={},sample={}", choice.min_size_bytes, choice.sample);
    if (choice.no_children) {
        options += fmt::format(",only-child-of={}", ::getpid());
    }
    return std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", preload},
                                                            {trace::recording_folder_variable, folder},
                                                            {trace::recording_options_variable, options}};
}

base::Expected<trace::RecordingSummary> assemble_recording(std::vector<trace::RecordedImage> images,
                                                           const trace::ClockReading& now, const std::string& out,
                                                           const trace::Facts& facts, const trace::SealedAhead& ahead)
{
    auto output = MEMSWEEP_TRY(TraceOutput::open(out));
    auto summary = MEMSWEEP_TRY(trace::assemble(std::move(images), now, is_running, output.taker(), facts, ahead));
    MEMSWEEP_TRY(output.commit());
    return summary;
}

void remove_recording(const std::string& folder, const std::vector<std::string>& taken = {})
{
    std::error_code problem;
    for (const std::string& path : taken) {
        fs::remove(path, problem);
    }
    fs::remove(folder, problem);  // left alone when something else is in it
}

struct RecordCommand {
    std::vector<std::string> command;
    std::string out;
    RecordingChoice choice;
    std::string recover;  // the folder of a recording that was cut off; empty: record
};

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
        print_note(fmt::format("{}: {} could not be recorded", out, measure::counted(summary.lost_events, "event")));
    }
    if (summary.damaged_chunks != 0) {
        print_note(fmt::format("{}: {} left out", out, measure::counted(summary.damaged_chunks, "damaged chunk")));
    }
    if (summary.still_running != 0) {
        print_note(fmt::format("{}: {} still running, recorded up to now", out, processes_text(summary.still_running)));
    }
    if (summary.foreign_mallocs != 0) {
        print_note(fmt::format("{}: {} of {} programs bring their own malloc, whose calls cannot be recorded", out,
                               summary.foreign_mallocs, summary.images));
    }
}

void say_what_was_left_out(const LeftRecordings& found, const std::string& out)
{
    if (found.refused != 0) {
        print_note(sys::io_error(fmt::format("{}: {} could not be recorded", out, processes_text(found.refused)),
                                 found.refused_errno, out)
                       .message);
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

// What was recorded stays in its folder when it cannot be written elsewhere.
base::Expected<ExitCode> finish(const RecordCommand& command, const std::string& folder, const GlobalOptions& global,
                                const trace::SealedAhead& ahead = trace::SealedAhead{})
{
    const trace::ClockReading now = trace::read_clocks();
    auto found = recordings_in(folder);
    if (!found) {
        return base::fail(command.recover.empty() ? kept(found.error(), folder) : found.error());
    }
    if (found->images.empty()) {
        remove_recording(folder, found->taken);
        const base::Error error = nothing_recorded(*found, command.out);
        return base::fail(found->not_read.empty() ? error : kept(error, folder));
    }
    const auto summary = assemble_recording(std::move(found->images), now, command.out, facts_of(command), ahead);
    if (!summary) {
        return base::fail(kept(summary.error(), folder));
    }
    if (summary->still_running == 0 || command.recover.empty()) {
        remove_recording(folder, found->taken);
    }
    say_what_is_missing(*summary, command.out);
    say_what_was_left_out(*found, command.out);
    if (!global.quiet) {
        print_note(fmt::format("{}: {}, {}", command.out, reporters::plural(summary->events, "event"),
                               processes_text(summary->processes)));
    }
    const bool whole = summary->stopped_errno == 0 && found->refused == 0 && found->not_read.empty();
    return whole ? ExitCode::done : ExitCode::bad_input;
}

base::Expected<ExitCode> record(const RecordCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(sys::can_be_preloaded(command.command));
    const std::string folder = MEMSWEEP_TRY(make_recording_folder(command.out));
    const auto environment = check_room(folder).and_then([&] { return recording_environment(folder, command.choice); });
    if (!environment) {
        remove_recording(folder);
        return base::fail(environment.error());
    }
    auto running = sys::ForegroundCommand::start(command.command, *environment);
    if (!running) {
        remove_recording(folder);
        return base::fail(running.error());
    }
    SealingMeanwhile sealing{folder};
    const int status = sys::shell_status(running->wait());
    const ExitCode code = settled(finish(command, folder, global, sealing.finish()));
    return status != 0 ? static_cast<ExitCode>(status) : code;
}

base::Expected<ExitCode> execute(const RecordCommand& command, const GlobalOptions& global)
{
    return command.recover.empty() ? record(command, global) : finish(command, command.recover, global);
}

}  // namespace

void add_record(Command& program, const GlobalOptions& global)
{
    constexpr std::uint64_t largest_sample = 1'000'000;
    Command& command = program.command("record", "Record the allocations of a program and its children");
    auto& record = arguments_of<RecordCommand>(command, global, execute);
    command.optional_positional("command CMD", value::texts(record.command),
                                "The program and its arguments, behind --");
    command.required_option("-o,--out FILE", value::text(record.out), "The trace to write (.mst)");
    command.option("--min-size SIZE", value::size(record.choice.min_size_bytes),
                   "Only blocks for which the allocator gave at least so much, as in 4KiB");
    command.option("--sample N", value::number(record.choice.sample, 1, largest_sample),
                   "One block of so many, chosen by address");
    command.flag("--no-children", record.choice.no_children,
                 "Only the program itself, not the processes that it starts");
    command.option("--recover DIR", value::text(record.recover),
                   "Make a trace of a recording that was cut off, instead of recording");
    command.footer =
        "Exits with the status of the program (128+N when signal N killed it), or 2: it cannot be recorded, "
        "or the trace cannot be written whole.";
    command.check = [&record]() -> base::Expected<void> {
        if (record.command.empty() == record.recover.empty()) {
            return record.command.empty() ? refuse("give the program to record behind --", "command")
                                          : refuse("records nothing: leave the program out", "--recover");
        }
        if (record.out == "-") {
            return refuse("the standard output belongs to the program: name a file", "--out");
        }
        return {};
    };
}

}  // namespace memsweep::app
