#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/traces.hpp"
#include "core/base/expected.hpp"
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

base::Expected<std::string> recorder_library()
{
    std::error_code problem;
    const fs::path folder = fs::read_symlink("/proc/self/exe", problem).parent_path();
    for (const char* const place : {"libmemsweep_record.so", "../lib/memsweep/libmemsweep_record.so"}) {
        const fs::path path = (folder / place).lexically_normal();
        if (!fs::exists(path, problem)) {
            continue;
        }
        if (path.string().find_first_of(": ") != std::string::npos) {
            return base::fail(base::ErrorCode::not_supported,
                              "the dynamic linker preloads nothing whose path has a blank or a colon: install memsweep "
                              "elsewhere",
                              path.string());
        }
        return path.string();
    }
    return base::fail(base::ErrorCode::not_supported,
                      "libmemsweep_record.so is missing: neither beside this program nor in ../lib/memsweep",
                      folder.string());
}

std::vector<std::string> recordings_in(const std::string& folder)
{
    std::vector<std::string> paths;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator{folder, problem}) {
        if (entry.path().extension() == ".mst") {
            paths.push_back(entry.path().string());
        }
    }
    return paths;
}

// A zombie has ended.
bool is_running(std::uint32_t process)
{
    const std::string text = sys::read_word(fmt::format("/proc/{}/stat", process));
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z' &&
           text[name_end + 2] != 'X';
}

// A process that could not even write its headers has nothing to say.
base::Expected<std::vector<trace::RecordedImage>> images_in(const std::string& folder)
{
    std::vector<trace::RecordedImage> images;
    for (const std::string& path : recordings_in(folder)) {
        auto read = trace::open_for_reading(path);
        if (!read) {
            return base::fail(read.error());
        }
        if (auto image = trace::open_image(*std::move(read), path)) {
            images.push_back(*std::move(image));
        }
    }
    if (images.empty()) {
        return refuse("nothing was recorded", folder);
    }
    return images;
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

// What a command needs in its environment to be recorded there.
base::Expected<std::vector<std::pair<std::string, std::string>>> recording_environment(const std::string& folder,
                                                                                       const RecordingChoice& choice)
{
    const auto library = recorder_library();
    if (!library) {
        return base::fail(library.error());
    }
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload =
        others == nullptr || *others == '\0' ? *library : fmt::format("{}:{}", *library, others);
    std::string options = fmt::format("min-size={},sample={}", choice.min_size_bytes, choice.sample);
    if (choice.no_children) {
        options += fmt::format(",only-child-of={}", ::getpid());
    }
    return std::vector<std::pair<std::string, std::string>>{{"LD_PRELOAD", preload},
                                                            {trace::recording_folder_variable, folder},
                                                            {trace::recording_options_variable, options}};
}

base::Expected<trace::RecordingSummary> assemble_recording(const std::string& folder, const std::string& out,
                                                           const trace::Facts& facts)
{
    const trace::ClockReading now = trace::read_clocks();
    auto images = images_in(folder);
    if (!images) {
        return base::fail(images.error());
    }
    auto output = TraceOutput::open(out);
    if (!output) {
        return base::fail(output.error());
    }
    auto summary = trace::assemble(*std::move(images), now, is_running, output->taker(), facts);
    if (!summary) {
        return base::fail(summary.error());
    }
    return output->commit().map([&] { return *summary; });
}

void remove_recording(const std::string& folder)
{
    std::error_code problem;
    for (const std::string& path : recordings_in(folder)) {
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
    const ExitCode code = settled(finish(command, *folder, global));
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
