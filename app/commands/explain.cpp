#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
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
#include "app/commands/document_output.hpp"
#include "app/commands/end_snapshot.hpp"
#include "app/commands/explaining.hpp"
#include "app/commands/growing_trace.hpp"
#include "app/commands/recorder.hpp"
#include "app/commands/recording_folder.hpp"
#include "app/commands/results.hpp"
#include "app/commands/sealing.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/measure/format.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/left_behind.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/stopped_end.hpp"
#include "core/trace/format/given_back.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/snapshot.hpp"
#include "core/trace/trace_reader.hpp"
#include "reporters/terminal/terminal_writer.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::app {
namespace {

using reporters::Explanation;

constexpr sys::PassingShape explained_folders{
    .before = "memsweep-explain-", .after = "", .tells_boot = false, .digits = 6};

// The moment that is explained.
struct AskedMoment {
    enum class Kind : std::uint8_t { end, peak, time };
    Kind kind{};
    std::chrono::nanoseconds time{};  // from the start of the recording on

    [[nodiscard]] std::string name() const { return kind == Kind::end ? "end" : kind == Kind::peak ? "peak" : "time"; }
};

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

struct ExplainCommand {
    std::vector<std::string> command;
    std::string trace;  // empty: the command is run
    AskedMoment at;
    model::EndOfWork end;  // when a program that is run has done its work
    std::string format{"text"};
    std::string out;
    std::optional<measure::MemoryWord> fail_on;
    std::uint32_t removed_sites{3};
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

// The moment is where the program ends by itself, of which a copy is kept.
bool is_at_exit(const ExplainCommand& command)
{
    const bool has_sign = command.end.sign != model::EndSign::none && command.end.sign != model::EndSign::exit;
    return command.at.kind == AskedMoment::Kind::end && !has_sign;
}

sys::SpawnOptions recorded(const ExplainCommand& command, const std::string& library, const std::string& folder)
{
    // Of another moment than the end there is no copy.
    const char* const copy = is_at_exit(command) ? "give-back," : "";
    const char* const others = std::getenv("LD_PRELOAD");
    const std::string preload = others == nullptr || *others == '\0' ? library : fmt::format("{}:{}", library, others);
    return {.argv = command.command,
            .environment = {{"LD_PRELOAD", preload},
                            {trace::recording_folder_variable, folder},
                            {trace::recording_options_variable, fmt::format("stacks,{}namespace={},only-child-of={}",
                                                                            copy, own_pid_namespace(), ::getpid())}}};
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

constexpr std::string_view no_memory = "The program's memory may not be read here";
constexpr std::string_view no_memory_then = "What its memory held at that moment was not read";

CopyAnswer not_asked()
{
    CopyAnswer answer;
    answer.tried.why_not = "only a copy of the living program at its end could try it";
    return answer;
}

std::uint64_t resident_bytes(pid_t process)
{
    const std::string statm = sys::read_word(fmt::format("/proc/{}/statm", process));
    std::string_view rest = statm;
    static_cast<void>(sys::take_word(rest));
    return base::parse_number(sys::take_word(rest)).value_or(0) * sys::page_size();
}

// A program that is run to be explained.
class ExplainedRun {
  public:
    ExplainedRun(const ExplainCommand& command, RecordedBy recorded, ProgramCopy copy)
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
        if (!explained_ && snapshot_) {
            explain();
        }
        if (explained_ && *explained_) {
            (*explained_)->ended_by = status.describe();
            take_returns(**explained_, returns_, command_.removed_sites);
        }
        return std::move(explained_);
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds between_peeks{1};

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
            is_work_done_ = work_end_->look(process) || is_work_done_;
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
        const bool is_unseen = work_end_ && !snapshot_ && work_end_->has_come();
        if (is_peak || is_unseen) {
            take(end.process, end.thread, end.since, trace::SnapshotAt::end);
        }
        most_resident_ =
            sys::find_kib_field(sys::read_kernel_text(fmt::format("/proc/{}/status", end.thread)).value_or(""), "VmHWM")
                .value_or(0);
    }

    [[nodiscard]] std::vector<std::string> warnings() const
    {
        std::vector<std::string> texts;
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

    const ExplainCommand& command_;
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
    std::optional<WorkEnd> work_end_;
    bool is_work_done_{};
    ReturnsBasis returns_;
    std::optional<trace::Snapshot> snapshot_;
    std::optional<MemoryContents> contents_;
    bool is_complete_{};  // the trace
    std::optional<base::Expected<Explanation>> explained_;
};

std::string seconds_text(const trace::TraceReader& reader, std::uint64_t ticks)
{
    const trace::FileHeader& header = reader.header();
    const std::uint64_t since = ticks - std::min(ticks, header.start_ticks);
    return header.ticks_per_second == 0
               ? "a moment that is not known"
               : fmt::format("{:.3f} s", static_cast<double>(since) / static_cast<double>(header.ticks_per_second));
}

base::Expected<trace::FoundSnapshot> wanted_snapshot(const AskedMoment& at, const trace::TraceReader& reader,
                                                     const std::vector<trace::FoundSnapshot>& found,
                                                     const std::string& path)
{
    if (found.empty()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            "has no snapshot of where memory is: record it again with `memsweep record --stacks "
            "--snapshot-at-end -o FILE -- CMD` or with --snapshot-every, or run `memsweep explain -- CMD`",
            path);
    }
    if (at.kind == AskedMoment::Kind::peak) {
        return *std::ranges::max_element(found, {}, &trace::FoundSnapshot::rss_bytes);
    }
    if (at.kind == AskedMoment::Kind::end) {
        const auto end = std::ranges::find_if(
            found, [](const trace::FoundSnapshot& one) { return one.at == trace::SnapshotAt::end; });
        if (end != found.end()) {
            return *end;
        }
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format(
                "has no snapshot of the end, but {} from {} to {}: give --at peak, or a time; --snapshot-at-end "
                "of `memsweep record` takes one at the end",
                measure::counted(found.size(), "other"), seconds_text(reader, found.front().ticks),
                seconds_text(reader, found.back().ticks)),
            path);
    }
    const trace::FileHeader& header = reader.header();
    constexpr double nanoseconds = 1e9;
    const double wanted = static_cast<double>(at.time.count()) / nanoseconds;
    const auto distance = [&](const trace::FoundSnapshot& one) {
        const std::uint64_t since = one.ticks - std::min(one.ticks, header.start_ticks);
        const auto rate = static_cast<double>(std::max<std::uint64_t>(header.ticks_per_second, 1));
        return std::abs(static_cast<double>(since) / rate - wanted);
    };
    return *std::ranges::min_element(found, {}, distance);
}

base::Expected<void> check_recording(const trace::Facts& facts, const std::string& path)
{
    if (!has_all_blocks(facts)) {
        return base::fail(base::ErrorCode::invalid_input,
                          "has not all blocks (record --min-size, --sample): what lies on a page is not known", path);
    }
    return {};
}

base::Expected<ExitCode> explain_trace(const ExplainCommand& command, const GlobalOptions& global)
{
    if (::access(command.trace.c_str(), X_OK) == 0) {
        return refuse("is a program, not a trace: give it behind --", command.trace);
    }
    const auto reader = MEMSWEEP_TRY(trace::TraceReader::open(command.trace));
    trace::ReadAt read = MEMSWEEP_TRY(trace::open_for_reading(command.trace));
    auto file = MEMSWEEP_TRY(trace::TraceFile::open(std::move(read), command.trace));
    const std::vector<trace::FoundSnapshot> found = trace::find_snapshots(file);
    const auto wanted = MEMSWEEP_TRY(wanted_snapshot(command.at, reader, found, command.trace));
    MEMSWEEP_TRY(check_recording(reader.facts(), command.trace));
    const auto snapshot = trace::read_snapshot(file, wanted);
    if (!snapshot) {
        return base::fail(base::ErrorCode::invalid_input, "the snapshot in it is damaged", command.trace);
    }
    ReturnsBasis returns;  // of its environment nothing is known
    ExplainedMoment moment{.at = command.at.name(),
                           .snapshot = &*snapshot,
                           .why_no_memory = std::string{no_memory_then},
                           .ask = not_asked,
                           .returns = &returns};
    const trace::Facts& facts = reader.facts();
    if (const auto recorded = facts.find("command"); recorded != facts.end()) {
        moment.command = {recorded->second};
    }
    if (const auto processes = facts.find("processes"); processes != facts.end() && processes->second != "1") {
        moment.warnings.push_back(
            fmt::format("The recording has {} processes: the one that the command began with is explained.",
                        reporters::inert_text(processes->second)));
    }
    if (!facts.contains("stacks")) {
        moment.warnings.emplace_back("It was recorded without --stacks: who allocated is not known by name.");
    }
    Explanation explanation = MEMSWEEP_TRY(explain_moment(command.trace, moment));
    take_returns(explanation, returns, command.removed_sites);
    const bool is_found = command.fail_on && explanation.verdict.word == *command.fail_on;
    const ExitCode written = put_out(command, explanation, global);
    return is_found ? worse(written, ExitCode::finding) : written;
}

base::Expected<ExitCode> execute(const ExplainCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_out(command.out, {}));
    if (!command.trace.empty()) {
        return explain_trace(command, global);
    }
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
        print_error({base::ErrorCode::os,
                     command.at.kind == AskedMoment::Kind::end && !is_at_exit(command)
                         ? fmt::format("the program ended without the sign {}", model::to_text(command.end))
                     : command.at.kind == AskedMoment::Kind::time
                         ? "the program had ended before that moment"
                         : "the program was gone before it could be stopped at its end",
                     ""});
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
    Command& command = root.command("explain", "Where a program's memory is, and what would give it back");
    auto& explain = arguments_of<ExplainCommand>(command, global, execute);
    command.optional_positional("trace FILE", value::text(explain.trace),
                                "A trace (.mst) that was recorded with snapshots");
    command.words_behind_dashes("command CMD", value::command(explain.command),
                                "The program and its arguments to run and explain, behind --");
    command.option("--at MOMENT", value::offering(value::parsed(explain.at, read_moment), {"end", "peak"}),
                   "end, peak (when it held the most), or a time since its start, as in 10s; of a trace the snapshot "
                   "that is nearest");
    command.option("--end-when SIGN", end_of_work(explain.end),
                   "The end of a program that is run is when its work is done: file:PATH, which it makes; line:REGEX, "
                   "which it prints; signal, SIGUSR1 to the pid in MEMSWEEP_PID; exit (default). One that goes on is "
                   "asked to end 2 s later");
    command.format_option(explain.format, value::word(explain.format, {"text", "json", "md", "html"}),
                          "text, json, md or html");
    command.option("-o,--out FILE", value::text(explain.out),
                   "Where to write; without it text goes to stderr, beside what the program prints, and the rest to "
                   "stdout");
    command.option("--remove N", value::number(explain.removed_sites, 0, 1000),
                   "Of how many top call sites to say what removing them returns, by replaying the recording without "
                   "them (default 3; 0: none)");
    command.option("--fail-on WORD", value::choice(explain.fail_on, verdict_words()),
                   "Exit with 1 when this is the verdict, as in leak");
    command.footer =
        "The program is recorded with all its call stacks and stopped: once, at its end, or with --at peak at each new "
        "maximum; replays come after it. Exits with the status of the "
        "program (128+N when signal N killed it); of one that ends with 0: 0, 1 with --fail-on, or 2: it cannot be "
        "recorded or stopped, the trace has no such snapshot, or the output cannot be written.";
    command.check = [&explain]() -> base::Expected<void> {
        if (explain.command.empty() == explain.trace.empty()) {
            return refuse(explain.command.empty() ? "give a trace, or the program to run behind --"
                                                  : "give a trace or a program, not both",
                          "command");
        }
        if (explain.end.sign != model::EndSign::none &&
            (!explain.trace.empty() || explain.at.kind != AskedMoment::Kind::end)) {
            return refuse(explain.trace.empty() ? "is the end, and --at names another moment"
                                                : "is for a program that is run: a trace has its own mark of it",
                          "--end-when");
        }
        if (explain.trace == "-") {
            return refuse("a trace is read more than once: name a file", "trace");
        }
        return {};
    };
}

}  // namespace memsweep::app
