#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/option_values.hpp"
#include "app/commands/commands.hpp"
#include "app/commands/passed_output.hpp"
#include "app/commands/results.hpp"
#include "app/commands/this_machine.hpp"
#include "app/commands/work_end.hpp"
#include "core/base/printable.hpp"
#include "core/engine/case_metrics.hpp"
#include "core/engine/command/end_watch.hpp"
#include "core/engine/command/measured_command.hpp"
#include "core/engine/command/tree_sampler.hpp"
#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/report.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/process_tree.hpp"
#include "core/sys/signals.hpp"
#include "reporters/document/table.hpp"
#include "reporters/formats.hpp"
#include "reporters/terminal/terminal_curves.hpp"
#include "scenarios/reader/fingerprint.hpp"

namespace memsweep::app {
namespace {

constexpr const char* reaped_elsewhere = "the process that guarded the command was lost";

// The fingerprint covers the program and its arguments: results of one command are compared.
std::string fingerprint(const std::vector<std::string>& command, const model::EndOfWork& end)
{
    std::string text = "memsweep-watch-1";
    for (const std::string& word : command) {
        text += '\0' + word;
    }
    if (end.sign != model::EndSign::none) {
        text += std::string{"\0\0", 2} + model::to_text(end);
    }
    return scenarios::sha256(text);
}

// A command's memory over time, sampled from outside, as a result with one case.
class Watching {
  public:
    Watching()
    {
        watched_.id = watched_.scenario = "watch";
        watched_.planned_repetitions = 1;
    }

    // The command has been started, and all of it descends from that process.
    void begin(pid_t guard)
    {
        guard_ = guard;
        started_ = sys::utc_now();
        sampler_.begin();
        sample();
    }

    void sample() { sampler_.sample(guard_); }

    // Totals are the kernel's own, of the command and of what it has waited for, so that they are known of one that
    // ended before it was sampled. `wall`: from just before its process was made.
    [[nodiscard]] model::RunReport finish(const model::CommandSpec& spec, const sys::ExitStatus& status,
                                          std::chrono::nanoseconds wall, const engine::Moment& at_end,
                                          const std::vector<std::string>& argv)
    {
        const std::vector<std::string>& command = spec.run;
        take_values(spec, status, wall, at_end);
        model::RunReport report = model::new_report(this_machine(), started_, argv);
        report.run.ended = sys::utc_now();
        report.run.exit_code = sys::shell_status(status);
        report.run.interrupted = false;
        report.run.scenario_name = "watch";
        report.run.scenario_description = reporters::command_line(command);
        report.run.scenario_fingerprint = fingerprint(command, spec.end);
        report.run.scenario_sha256 = report.run.scenario_fingerprint;
        watched_.fingerprint = report.run.scenario_fingerprint;
        if (!is_good_end(status)) {
            watched_.status = model::Status::error;
            watched_.reason = status.describe();
        }
        report.cases.push_back(std::move(watched_));
        return report;
    }

  private:
    // Whoever watches a service ends it by one of these signals. An exit code is the program's answer, and memsweep's.
    static bool is_good_end(const sys::ExitStatus& status)
    {
        return status.signal == 0 || status.signal == SIGTERM || status.signal == SIGINT || status.signal == SIGHUP;
    }

    // It is the only repetition of a case that runs a program. Nothing counts instructions of a program in the
    // foreground, so the case has no such metrics.
    void take_values(const model::CommandSpec& command, const sys::ExitStatus& status, std::chrono::nanoseconds wall,
                     const engine::Moment& at_end)
    {
        const engine::CompiledCase compiled{.work = command};
        engine::CommandRecord measured = engine::measured_command(status, wall, sampler_, at_end);
        measured.peak_working_set_bytes = std::max(measured.peak_working_set_bytes, sampler_.peak_bytes());
        engine::declare_metrics(compiled, watched_);
        std::erase_if(watched_.metrics, [](const model::Metric& metric) {
            return metric.name == model::metrics::instructions || metric.name == model::metrics::cycles;
        });
        engine::append_repetition(
            compiled,
            {.ending = engine::Ending::finished, .series = sampler_.take_series(), .measured = std::move(measured)}, {},
            watched_);
        if (status.code < 0) {
            forget_totals();
        }
        for (model::Metric& metric : watched_.metrics) {
            if (metric.name == model::metrics::working_set_end && !metric.values.front()) {
                metric.reason = at_end.why_none;
            }
        }
        engine::summarize_metrics(watched_);
    }

    // What the kernel tells whoever reaps a process, which somebody else has done.
    void forget_totals()
    {
        for (model::Metric& metric : watched_.metrics) {
            const bool is_ours = metric.name == model::metrics::wall_time || metric.name == model::metrics::pressure ||
                                 metric.name == model::metrics::working_set_end ||
                                 (metric.name == model::metrics::working_set_peak && sampler_.peak_bytes() > 0);
            if (!is_ours && metric.values.front()) {
                metric.values.front().reset();
                metric.reason = reaped_elsewhere;
            }
        }
    }

    pid_t guard_{};
    std::string started_;
    engine::TreeSampler sampler_{true};
    model::CaseReport watched_;
};

struct WatchCommand {
    std::vector<std::string> command;
    std::chrono::nanoseconds interval{std::chrono::milliseconds{50}};
    model::EndOfWork end;
    std::string format;  // empty: text to stderr, and the result where `out` says
    std::string out;
};

constexpr int columns = 48;

std::string curve_line(const model::CaseReport& watched, std::string_view name, const std::string& words)
{
    for (const model::Series& series : watched.series) {
        if (series.name == name && !series.v.empty()) {
            const double top = *std::ranges::max_element(series.v);
            return fmt::format("{:<14} {}  {}\n", name,
                               reporters::sparkline(series, series.t.back() * 1.001, top, columns), words);
        }
    }
    return fmt::format("{:<14} {}\n", name, words);
}

std::string text_of(const model::RunReport& report, const WatchCommand& command, const sys::ExitStatus& status)
{
    const model::CaseReport& watched = report.cases.front();
    const auto figure = [&](std::string_view name, std::string_view before, std::string_view after) {
        const model::Metric& metric = *model::find_metric(watched, name);
        const auto& value = metric.values.front();
        return value ? fmt::format("{}{}{}", before, reporters::value_text(*value, metric.unit), after)
                     : fmt::format("{}not known: {}", before, metric.reason);
    };
    std::string text =
        fmt::format("{}: {}\n", base::printable(reporters::command_line(command.command)), status.describe());
    text += curve_line(watched, "working_set", figure(model::metrics::working_set_peak, "peak ", ""));
    if (command.end.sign != model::EndSign::none) {
        text += fmt::format("{:<14} {}\n", "when it's done", figure(model::metrics::working_set_end, "", " resident"));
    }
    text += curve_line(watched, "minor_faults", figure(model::metrics::minor_faults, "", " in all"));
    text += curve_line(watched, "major_faults", figure(model::metrics::major_faults, "", " in all"));
    text += curve_line(watched, "memory_stall",
                       figure(model::metrics::pressure, "", " in which some task of this machine waited for memory"));
    const std::size_t samples = watched.series.front().v.size();
    text += fmt::format("{}, {}; {}\n", figure(model::metrics::wall_time, "", " of wall time"),
                        figure(model::metrics::cpu_time, "processor time ", ""),
                        samples > 0 ? measure::counted(samples, "sample")
                                    : "no sample, for it ended before the first: peaks and totals are the kernel's");
    return text;
}

ReportTarget target_of(const WatchCommand& command)
{
    return {command.format.empty() ? "json" : command.format, command.out};
}

// The text goes beside what the command has printed itself.
ExitCode put_out(const model::RunReport& report, const WatchCommand& command, const sys::ExitStatus& status,
                 const GlobalOptions& global)
{
    if (command.format == "text" && !command.out.empty()) {
        return write_text(text_of(report, command, status), command.out);
    }
    const bool is_text = command.format.empty() || command.format == "text";
    if (is_text) {
        std::fputs(text_of(report, command, status).c_str(), stderr);
    }
    return is_text && command.out.empty() ? ExitCode::done : write_report(report, target_of(command), global);
}

// The end of the work (--end-when), if it is asked for.
class WatchedEnd {
  public:
    explicit WatchedEnd(const model::EndOfWork& end)
    {
        if (end.sign != model::EndSign::none) {
            end_.emplace(end, "");
            sign_ = end.sign;
        }
    }
    base::Expected<void> prepare(sys::SpawnOptions& program)
    {
        if (sign_ == model::EndSign::signal) {
            program.environment.emplace_back(model::end_signal_variable, std::to_string(::getpid()));
        } else if (sign_ == model::EndSign::line) {
            MEMSWEEP_TRY(
                output_.take(program, [this](engine::Printed by, std::string_view bytes) { end_->hear(by, bytes); }));
        }
        return end_ ? end_->prepare() : base::Expected<void>{};
    }
    void attach(pid_t launcher, pid_t guard, const std::string& program)
    {
        if (end_) {
            end_->attach(launcher, guard, sys::find_program(program));
        }
    }
    void begin(const sys::ForegroundCommand& running)
    {
        output_.begin();
        if (end_) {
            end_->begin(running.pid(), running.guard());
        }
    }
    void look(pid_t program)
    {
        if (end_ && end_->look(sys::SystemClock{}.now())) {
            was_asked_to_end_ = true;
            sys::ask_to_end(program);
        }
    }
    void finish()
    {
        output_.finish();
        if (end_) {
            end_->settle();
            moment_ = end_->finish();
        }
    }
    [[nodiscard]] bool is_asked_for() const noexcept { return end_.has_value(); }
    // When it came, by the system's clock.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> came() const { return end_ ? end_->read_at() : std::nullopt; }
    [[nodiscard]] const engine::Moment& moment() const noexcept { return moment_; }
    [[nodiscard]] sys::ExitStatus judged(const sys::ExitStatus& ended) const
    {
        return judged_end(ended, was_asked_to_end_);
    }

  private:
    std::optional<engine::EndWatch> end_;
    model::EndSign sign_{};
    engine::Moment moment_;
    bool was_asked_to_end_{};
    PassedOutput output_;  // its thread tells end_
};

sys::ExitStatus watch_until_end(const WatchCommand& command, sys::ForegroundCommand& running, Watching& watching,
                                WatchedEnd& end)
{
    if (!end.is_asked_for()) {
        return running.wait(command.interval, [&] { watching.sample(); });
    }
    using Clock = std::chrono::steady_clock;
    auto due = Clock::now() + command.interval;
    return running.wait(std::min<std::chrono::nanoseconds>(engine::EndWatch::pause, command.interval), [&] {
        if (!end.came() && Clock::now() >= due) {
            watching.sample();
            due = std::max(due + command.interval, Clock::now());
        }
        end.look(running.pid());
    });
}

base::Expected<ExitCode> execute(const WatchCommand& command, const GlobalOptions& global)
{
    MEMSWEEP_TRY(check_target(target_of(command)));
    Watching watching;
    WatchedEnd end{command.end};
    sys::SpawnOptions program{.argv = command.command};
    MEMSWEEP_TRY(end.prepare(program));
    const auto attach = [&](pid_t launcher, pid_t guard) { end.attach(launcher, guard, command.command.front()); };
    auto running = MEMSWEEP_TRY(sys::ForegroundCommand::start({.program = program, .before = attach}));
    end.begin(running);
    watching.begin(running.guard());
    const sys::ExitStatus ended = watch_until_end(command, running, watching, end);
    const auto wall = end.came().value_or(sys::SystemClock{}.now()) - running.begun();
    end.finish();
    const sys::ExitStatus status = end.judged(ended);
    const model::RunReport report =
        watching.finish({.run = command.command, .end = command.end}, status, wall, end.moment(), global.argv);
    const sys::StopSignals signals;  // from here on they end the waiting for a reader
    ExitCode written = put_out(report, command, status, global);
    if (written != ExitCode::done) {
        save_in_refuge(report);
    }
    if (signals.pending()) {
        written = worse(written, stop_code(signals));
    }
    const int code = sys::shell_status(status);
    return code != 0 ? static_cast<ExitCode>(code) : written;
}

}  // namespace

void add_watch(Command& root, const GlobalOptions& global)
{
    Command& command = root.command("watch", "Show working set, faults and memory pressure of a program over time");
    auto& watch = arguments_of<WatchCommand>(command, global, execute);
    command.positional("command CMD", value::command(watch.command), "The program and its arguments, behind --");
    command.option("-i,--interval DUR", value::defaulting(value::duration(watch.interval), "50ms"),
                   "Time between two samples");
    command.format_option(watch.format,
                          value::offering(value::text(watch.format), value::names_in(reporters::formats())),
                          "text, or any format of a result: see memsweep list formats");
    command.option(
        "--end-when SIGN", end_of_work(watch.end),
        "Watch until the work is done, and measure the memory that is resident then (working_set_end). SIGN is exit; "
        "file:PATH (the program makes this file); line:REGEX (it prints such a line); or signal (it sends SIGUSR1 to "
        "the pid in MEMSWEEP_PID). A program that is still running 2 s later is asked to end");
    command.option("-o,--out FILE", value::text(watch.out),
                   "File for the result, in the format of -f (json); without -f, text also goes to stderr");
    command.footer =
        "Exits with the status of the program (128+N when signal N killed it), or 2: it cannot be run, or the "
        "output cannot be written.";
    command.check = [&watch]() -> base::Expected<void> {
        if (watch.interval <= std::chrono::nanoseconds::zero()) {
            return refuse("must be above 0", "--interval");
        }
        return {};
    };
}

}  // namespace memsweep::app
