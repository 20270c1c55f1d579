#include "app/commands/explained_run.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/commands/explaining.hpp"
#include "app/commands/growing_trace.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/recording_clock.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/sealing.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/format/given_back.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/snapshot.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

constexpr sys::PassingShape explained_folders{
    .before = "memsweep-explain-", .after = "", .tells_boot = false, .digits = 6};

// The moment is where the program ends by itself, of which a copy is kept.
bool is_at_exit(const RunToExplain& command)
{
    return command.at.kind == AskedMoment::Kind::end && !command.end.has_sign();
}

sys::SpawnOptions recorded(const RunToExplain& command, const std::string& library, const std::string& folder)
{
    // Of another moment than the end there is no copy.
    const char* const copy = is_at_exit(command) ? "give-back," : "";
    const std::string alone =
        command.process.empty() ? fmt::format("only-child-of={}", ::getpid()) : std::string{"only-chosen"};
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload = others == nullptr || *others == '\0' ? library : fmt::format("{}:{}", library, others);
    return {.argv = command.command,
            .environment = {{"LD_PRELOAD", preload},
                            {trace::recording_folder_variable, folder},
                            {trace::recording_options_variable,
                             fmt::format("stacks,{}namespace={},{}", copy, own_pid_namespace(), alone)}}};
}

std::string last_part(const std::string& path)
{
    return std::filesystem::path{path}.filename().string();
}

// What a process is called: by the file that it runs, by the kernel, by the first word of its command line. The kernel
// calls a script by its own name (execve(2)), of which it keeps 15 bytes: the rest is in a later word.
std::vector<std::string> names_of(pid_t process)
{
    constexpr std::size_t kept_bytes = 15;
    const std::string folder = fmt::format("/proc/{}/", process);
    std::string called = sys::read_kernel_text(folder + "comm").value_or("");
    if (!called.empty() && called.back() == '\n') {
        called.pop_back();
    }
    std::error_code unread;
    std::vector<std::string> names{last_part(std::filesystem::read_symlink(folder + "exe", unread).string()), called};
    const std::string words = sys::read_kernel_text(folder + "cmdline").value_or("");
    std::string_view rest = words;
    for (bool is_first = true; !rest.empty(); is_first = false) {
        std::string word = last_part(std::string{base::take_until(rest, '\0')});
        const bool is_cut = called.size() == kept_bytes && word.starts_with(called);
        if (is_first || is_cut) {
            names.push_back(std::move(word));
        }
    }
    return names;
}

// As they are told where none is the one that was meant.
std::string words_of(const std::vector<std::string>& names)
{
    const std::string& file = names.at(0);
    const std::string& called = names.at(1);
    return reporters::inert_text(called == file || called.empty() ? file : fmt::format("{} ({})", called, file));
}

// Has the recorder record that process.
bool choose(pid_t process, const std::string& folder)
{
    const std::string path = fmt::format("{}/{}.0{}", folder, process, trace::chosen_ending);
    return sys::UniqueFd{::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)}.valid();
}

constexpr std::string_view no_memory = "The program's memory may not be read here";

std::uint64_t resident_bytes(pid_t process)
{
    const std::string statm = sys::read_word(fmt::format("/proc/{}/statm", process));
    std::string_view rest = statm;
    static_cast<void>(sys::take_word(rest));
    return base::parse_number(sys::take_word(rest)).value_or(0) * sys::page_size();
}

class RunningProgram {
  public:
    RunningProgram(const RunToExplain& command, RecordedBy recorded, ProgramCopy copy)
        : command_{command}, recorded_{std::move(recorded)}, copy_{std::move(copy)}
    {
        if (command.at.kind == AskedMoment::Kind::end && !is_at_exit(command)) {
            work_end_.emplace(command.end);
        }
    }

    base::Expected<sys::ExitStatus> run()
    {
        sys::ProgramStops stops{
            .at_end = [this](const sys::StoppedEnd& end) { take_end(end); },
            .call_mark = trace::tracer_call_mark,
            .at_call = [this](const sys::StoppedMoment& moment, std::uint32_t call) { take_call(moment, call); }};
        if (!command_.process.empty()) {
            stops.is_wanted = [this](pid_t process) { return is_wanted(process); };
            sys::adopt_orphans();  // the copy of a program that outlives its parent becomes our child too
        }
        if (!is_at_exit(command_)) {
            stops.meanwhile = [this](pid_t process) { return is_due(process); };
            stops.at_asked = [this](const sys::StoppedMoment& moment) {
                take(moment.process, moment.thread, moment.since,
                     work_end_ ? trace::SnapshotAt::end : trace::SnapshotAt::time);
            };
            stops.pause = between_peeks;
        }
        sys::SpawnOptions program = recorded(command_, recorded_.library, recorded_.folder);
        if (work_end_) {
            MEMSWEEP_TRY(work_end_->prepare(program));
        }
        sealing_.emplace(recorded_.folder, trace_);
        const sys::ExitStatus status = MEMSWEEP_TRY(sys::StoppedAtEnd::run(program, stops));
        if (work_end_) {
            work_end_->finish();
        }
        return work_end_ ? work_end_->judged(status) : status;
    }

    // Once it has ended so; absent: it was gone before it could be stopped.
    std::optional<base::Expected<Explanation>> explanation(const sys::ExitStatus& status)
    {
        if (work_end_ && !work_end_->has_come()) {
            return std::nullopt;
        }
        if (!explained_ && snapshot_) {
            explain();
        }
        if (explained_ && *explained_) {
            (*explained_)->ended_by = (end_ ? *end_ : status).describe();
            take_returns(**explained_, returns_, command_.removed_sites);
        }
        return std::move(explained_);
    }

    // The names of all that began, where none was the one asked for.
    [[nodiscard]] std::vector<std::string> started() &&
    {
        return is_found_ ? std::vector<std::string>{} : std::vector(started_.begin(), started_.end());
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds between_peeks{1};

    bool is_wanted(pid_t process)
    {
        if (work_end_) {
            work_end_->begin();
        }
        const std::vector<std::string> names = names_of(process);
        const bool is_meant = std::ranges::find(names, last_part(command_.process)) != names.end();
        const bool is_elsewhere = pid_namespace_of(std::to_string(process)) != own_pid_namespace();
        started_.insert(words_of(names) +
                        (is_meant && is_elsewhere ? ", in a pid namespace of its own, where it is not followed" : ""));
        is_found_ = is_meant && !is_elsewhere && choose(process, recorded_.folder);
        begun_ = Clock::now();
        return is_found_;
    }

    void take(pid_t process, pid_t thread, Clock::time_point since, trace::SnapshotAt at)
    {
        auto taken = take_snapshot(recorded_, process, thread, at);
        if (!taken) {
            if (!snapshot_) {
                explained_ = base::fail(taken.error());
            }
            return;
        }
        explained_.reset();
        ++snapshots_;
        snapshot_ = *std::move(taken);
        since_ = since;
        process_ = process;
        returns_.environment = allocator_variables_of(process);
        others_ = other_processes(process);
        stood();
    }

    void stood()
    {
        snapshot_->stopped_nanoseconds = static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since_).count());
    }

    // Of the peak: a snapshot at each new maximum, which is 5 % above the last one.
    bool is_due(pid_t process)
    {
        if (work_end_) {
            const pid_t asked = command_.process.empty() ? process : ::getpid();
            is_work_done_ = work_end_->look(asked) || is_work_done_;
            return snapshots_ == 0 && is_work_done_;
        }
        if (command_.at.kind == AskedMoment::Kind::time) {
            return snapshots_ == 0 && Clock::now() - begun_ >= command_.at.time;
        }
        constexpr std::uint64_t most_snapshots = 400;
        constexpr std::uint64_t least_growth = 1U << 20U;
        constexpr std::uint64_t growth_percent = 105;
        const std::uint64_t held = resident_bytes(process);
        const std::uint64_t last = snapshot_ ? snapshot_->space.rss_bytes() : 0;
        return snapshots_ < most_snapshots && held > last * growth_percent / 100 && held >= last + least_growth;
    }

    void take_call(const sys::StoppedMoment& moment, std::uint32_t call)
    {
        if (call == trace::tracer_call_look) {
            take(moment.process, moment.thread, moment.since, trace::SnapshotAt::end);
        } else if ((call & trace::tracer_call_copied) != 0 && snapshot_ && !copy_.is_there()) {
            copy_.take(moment.process, static_cast<pid_t>(call & trace::tracer_call_number));
            stood();
        }
    }

    // Of a program that has not called, there is no copy: what its memory holds is read while it stands.
    void take_end(const sys::StoppedEnd& end)
    {
        if (is_found_) {
            end_ = sys::exit_status(end.status, {});
            end_ = work_end_ ? work_end_->judged(*end_) : *end_;
        }
        if (!is_at_exit(command_)) {
            take_end_of_another_moment(end);
            return;
        }
        if (copy_.is_there()) {
            return;
        }
        if (!snapshot_) {
            take(end.process, end.thread, end.since, trace::SnapshotAt::end);
        }
        if (!snapshot_) {
            return;
        }
        since_ = end.since;
        if (const auto memory = sys::ForeignMemory::open(end.thread)) {
            auto contents = complete_trace().and_then(
                [&] { return read_contents(unfinished_trace_in(recorded_.folder), *snapshot_, *memory); });
            if (contents) {
                contents_ = *std::move(contents);
            } else {
                explained_ = base::fail(contents.error());
            }
        }
        stood();
    }

    // Its end may be the moment at which it held the most.
    void take_end_of_another_moment(const sys::StoppedEnd& end)
    {
        const bool is_peak = command_.at.kind == AskedMoment::Kind::peak &&
                             (!snapshot_ || resident_bytes(end.thread) > snapshot_->space.rss_bytes());
        const bool may_be_unseen = work_end_ && !snapshot_;  // what it has printed last may not have been read yet
        if (is_peak || may_be_unseen) {
            take(end.process, end.thread, end.since, trace::SnapshotAt::end);
        }
        most_resident_ =
            sys::find_kib_field(sys::read_kernel_text(fmt::format("/proc/{}/status", end.thread)).value_or(""), "VmHWM")
                .value_or(0);
    }

    [[nodiscard]] std::vector<std::string> warnings() const
    {
        std::vector<std::string> texts;
        if (is_found_) {
            texts.push_back(fmt::format("The explained program is {}, process {}, one of the command's processes.",
                                        reporters::inert_text(command_.process), process_));
        }
        if (command_.at.kind == AskedMoment::Kind::peak) {
            constexpr std::uint64_t noticed_percent = 106;
            const std::uint64_t held = snapshot_->space.rss_bytes();
            if (most_resident_ > held * noticed_percent / 100) {
                texts.push_back(fmt::format("It held {} at a moment between two looks: this is the moment with {}.",
                                            base::format_size(most_resident_), base::format_size(held)));
            }
        }
        return texts;
    }

    void explain()
    {
        const bool is_end = is_at_exit(command_);
        const ExplainedMoment moment{.command = command_.command,
                                     .at = command_.at.name(),
                                     .snapshot = &*snapshot_,
                                     .memory = copy_.memory(),
                                     .contents = contents_ ? &*contents_ : nullptr,
                                     .why_no_memory = std::string{is_end ? no_memory : no_memory_then},
                                     .ask = [&] { return is_end ? copy_.ask(process_) : not_asked(); },
                                     .others = others_,
                                     .returns = &returns_,
                                     .warnings = warnings()};
        explained_ =
            complete_trace().and_then([&] { return explain_moment(unfinished_trace_in(recorded_.folder), moment); });
    }

    // Of all that was recorded so far. Most of it is in the trace by then.
    base::Expected<void> complete_trace()
    {
        if (std::exchange(is_complete_, true)) {
            return {};
        }
        trace::TraceProgress progress = sealing_->finish();
        std::vector<trace::RecordedImage> images = MEMSWEEP_TRY(recorded_images(recorded_.folder));
        const trace::FileHeader header = trace::trace_header(images, trace::read_clocks());
        MEMSWEEP_TRY(trace::put_rest(images, is_running, trace_.taker(),
                                     {{"source", "memsweep explain"}, {"stacks", "full"}}, std::move(progress)));
        return trace_.complete(header);
    }

    const RunToExplain& command_;
    RecordedBy recorded_;
    ProgramCopy copy_;
    GrowingTrace trace_{unfinished_trace_in(recorded_.folder)};
    std::optional<SealingMeanwhile> sealing_;
    pid_t process_{};
    Clock::time_point begun_{Clock::now()};
    Clock::time_point since_;
    std::uint64_t snapshots_{};
    std::uint64_t most_resident_{};
    OtherProcesses others_;
    std::set<std::string> started_;  // while the wanted program is looked for
    bool is_found_{};
    std::optional<sys::ExitStatus> end_;  // of the program that was found
    std::optional<WorkEnd> work_end_;
    bool is_work_done_{};
    ReturnsBasis returns_;
    std::optional<trace::Snapshot> snapshot_;
    std::optional<MemoryContents> contents_;
    bool is_complete_{};  // the trace
    std::optional<base::Expected<Explanation>> explained_;
};

}  // namespace

base::Expected<AskedMoment> read_moment(const std::string& text)
{
    AskedMoment moment;
    if (text == "end" || text == "peak") {
        moment.kind = text == "end" ? AskedMoment::Kind::end : AskedMoment::Kind::peak;
        return moment;
    }
    moment.kind = AskedMoment::Kind::time;
    moment.time = MEMSWEEP_TRY(base::parse_duration(text));
    return moment;
}

CopyAnswer not_asked()
{
    CopyAnswer answer;
    answer.tried.why_not = "only a copy of the living program at its end could try it";
    return answer;
}

base::Expected<ExplainedRun> explain_run(const RunToExplain& run)
{
    if (run.process.empty()) {
        MEMSWEEP_TRY(sys::can_be_preloaded(run.command));
    }
    const std::string library = MEMSWEEP_TRY(recorder_library());
    MEMSWEEP_TRY(sys::can_trace());
    const auto folder = sys::PassingFolder::make(explained_folders);
    if (!folder) {
        return base::fail(base::os_error("cannot make a folder", errno, sys::PassingFolder::parent()));
    }
    MEMSWEEP_TRY(check_room(folder->path()));
    const RecordingClock clock{folder->path()};
    RunningProgram program{run, {library, folder->path()}, MEMSWEEP_TRY(ProgramCopy::await(folder->path()))};
    const sys::ExitStatus status = MEMSWEEP_TRY(program.run());
    ExplainedRun ran{.status = status, .explanation = program.explanation(status)};
    ran.started = std::move(program).started();
    return ran;
}

}  // namespace memsweep::app
