#include "core/engine/command_executor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/engine/halves.hpp"
#include "core/engine/program.hpp"
#include "core/engine/program_output.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/process_tree.hpp"
#include "core/sys/processors.hpp"
#include "core/trace/format/recording_layout.hpp"

namespace memsweep::engine {

// What a program has to keep to that runs at the same time as another.
struct Hold {
    std::optional<std::uint32_t> processor;  // it runs on no other
    std::function<void(int gate)> ready;     // somebody else releases this gate of its launch; empty: it begins at once
};

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
namespace fs = std::filesystem;

constexpr nanoseconds first_sample_after = milliseconds{3};
constexpr nanoseconds shortest_sampling = milliseconds{5};
constexpr nanoseconds stop_check_interval = milliseconds{50};
constexpr nanoseconds grace = milliseconds{1000};         // from SIGTERM to SIGKILL
constexpr nanoseconds end_patience = milliseconds{5000};  // from SIGKILL to the end

std::string beside(const std::string& cwd, const std::string& path)
{
    return cwd.empty() || path.starts_with('/') ? path : cwd + "/" + path;
}

base::Expected<sys::UniqueFd> open_file(const std::string& path, int flags)
{
    constexpr mode_t readable_by_all = 0644;
    sys::UniqueFd file{::open(path.c_str(), flags | O_CLOEXEC, readable_by_all)};
    if (!file.valid()) {
        return base::fail(base::os_error("open", errno, path));
    }
    return file;
}

// The words that are executed.
std::vector<std::string> executed(const std::vector<std::string>& words, bool shell)
{
    if (!shell) {
        return words;
    }
    std::vector<std::string> wrapped{"/bin/sh", "-c"};
    wrapped.insert(wrapped.end(), words.begin(), words.end());
    return wrapped;
}

// How one program ended, and what it used.
struct ProgramEnd {
    Ending ending{Ending::broken};
    std::string reason;
    sys::ExitStatus status;
    nanoseconds wall{};
    sys::HardwareCounts hardware;
    sys::Cleared left;
    std::string last_words;
    std::string checksum;  // empty: not asked for
};

// One program, from its start to the end of everything that it has started.
class Supervision {
  public:
    Supervision(const sys::Clock& clock, const sys::StopSignals& signals, nanoseconds timeout)
        : clock_{clock}, signals_{signals}, timeout_{timeout}
    {
    }

    // From here on programs run under a library that counts their allocations into a folder.
    void count_with(const std::string& recorder, const std::string& folder)
    {
        recorder_ = recorder;
        counts_folder_ = folder;
    }

    // As the next program is to be held.
    void hold(const Hold& hold) { hold_ = hold; }

    // `sampler`: null: its memory is of no interest.
    ProgramEnd run(const model::CommandSpec& command, const std::vector<std::string>& words,
                   const model::AllocatorSpec& allocator, const std::string& output, nanoseconds interval,
                   TreeSampler* sampler, const std::function<void(int pid)>& started)
    {
        ProgramEnd end;
        if (sampler != nullptr) {
            sampler->begin();
        }
        const bool counts = sampler != nullptr && sys::has_hardware_counters();
        auto launch = prepare(command, words, allocator, output, counts);
        if (!launch) {
            end.reason = base::describe(launch.error());
            return end;
        }
        std::optional<sys::HardwareCounters> counters;
        if (counts) {
            counters.emplace(launch->launcher());
        }
        if (hold_.ready) {
            hold_.ready(launch->gate());
        }
        auto launched = hold_.ready ? launch->started() : launch->start();
        last_words_.close_write_end();
        checksum_.close_write_end();
        if (!launched) {
            end.reason = base::describe(launched.error());
            return end;
        }
        sys::ChildProcess& process = launched->process;
        started(process.pid());
        watch(process, launched->begun, interval, sampler, end);
        end.wall = clock_.now() - launched->begun;
        if (end.ending != Ending::finished) {
            stop(process);
        }
        end.status = process.wait_for(end_patience).value_or(sys::ExitStatus{.code = -1});
        end.left = sys::clear_descendants(end_patience);
        last_words_.read_all();
        checksum_.read_all();
        end.hardware = counters ? counters->read() : sys::HardwareCounts{};
        end.last_words = last_words_.text();
        end.checksum = output == model::output_checksum ? checksum_.text() : "";
        return end;
    }

  private:
    base::Expected<sys::CommandLaunch> prepare(const model::CommandSpec& command, const std::vector<std::string>& words,
                                               const model::AllocatorSpec& allocator, const std::string& output,
                                               bool waits)
    {
        sys::LaunchOptions options{
            .program = {.argv = executed(words, command.shell)}, .cwd = command.cwd, .waits = waits || hold_.ready};
        sys::put_under(allocator, options.program);
        options.program.environment.insert(options.program.environment.end(), command.environment.begin(),
                                           command.environment.end());
        if (!recorder_.empty()) {
            preload_recorder(options.program);
        }
        const sys::UniqueFd input =
            MEMSWEEP_TRY(open_file(command.input.empty() ? "/dev/null" : beside(command.cwd, command.input), O_RDONLY));
        options.input = input.get();
        sys::UniqueFd file;
        if (output == model::output_checksum) {
            MEMSWEEP_TRY(checksum_.open(Checksum::pipe_bytes));
            options.output = checksum_.write_end();
        } else if (output != model::output_inherited) {
            file = output == model::output_discarded
                       ? MEMSWEEP_TRY(open_file("/dev/null", O_WRONLY))
                       : MEMSWEEP_TRY(open_file(beside(command.cwd, output), O_WRONLY | O_CREAT | O_TRUNC));
            options.output = file.get();
        }
        if (output != model::output_inherited) {
            MEMSWEEP_TRY(last_words_.open());
            options.error = last_words_.write_end();
        }
        sys::Affinity processor;  // which the program inherits
        if (hold_.processor) {
            MEMSWEEP_TRY(processor.limit_to({*hold_.processor}));
        }
        return sys::CommandLaunch::prepare(options);
    }

    // In front of an allocator that is preloaded too.
    void preload_recorder(sys::SpawnOptions& program) const
    {
        constexpr const char* variable = "LD_PRELOAD";
        const auto last = std::ranges::find(program.environment.rbegin(), program.environment.rend(), variable,
                                            &std::pair<std::string, std::string>::first);
        const bool is_ours = std::ranges::find(program.without, variable) == program.without.end();
        const char* const inherited = is_ours ? std::getenv(variable) : nullptr;
        const std::string others = last != program.environment.rend() ? last->second
                                   : inherited != nullptr             ? inherited
                                                                      : "";
        program.environment.emplace_back(variable, others.empty() ? recorder_ : recorder_ + ":" + others);
        program.environment.emplace_back(trace::recording_folder_variable, counts_folder_);
        program.environment.emplace_back(trace::recording_options_variable, "count");
    }

    // Until the program has ended, runs out of time or the user stops the run.
    void watch(sys::ChildProcess& process, nanoseconds begin, nanoseconds interval, TreeSampler* sampler,
               ProgramEnd& end)
    {
        nanoseconds next_sample = clock_.now() + (interval > nanoseconds::zero() ? interval : first_sample_after);
        while (true) {
            const nanoseconds now = clock_.now();
            if (now >= begin + timeout_) {
                end.ending = Ending::timed_out;
                return;
            }
            nanoseconds wait = std::min(stop_check_interval, begin + timeout_ - now);
            if (sampler != nullptr) {
                wait = std::min(wait, std::max(next_sample - now, nanoseconds::zero()));
            }
            if (wait_for_end(process, wait)) {
                end.ending = Ending::finished;
                return;
            }
            if (signals_.pending()) {
                end.ending = Ending::interrupted;
                return;
            }
            if (sampler != nullptr && clock_.now() >= next_sample) {
                sampler->sample();
                const nanoseconds pause = std::max(shortest_sampling, sampler->pause());
                next_sample = clock_.now() + (interval > nanoseconds::zero() ? interval : pause);
            }
        }
    }

    // Reads what the program says meanwhile; true as soon as it has ended.
    bool wait_for_end(const sys::ChildProcess& process, nanoseconds wait)
    {
        std::array<pollfd, 4> ready{{{process.fd(), POLLIN, 0},
                                     {last_words_.fd(), POLLIN, 0},
                                     {checksum_.fd(), POLLIN, 0},
                                     {signals_.fd(), POLLIN, 0}}};
        const timespec timeout = sys::to_timespec(wait);
        if (::ppoll(ready.data(), ready.size(), &timeout, nullptr) <= 0) {
            return false;
        }
        if (ready[0].revents != 0) {
            return true;
        }
        if (ready[1].revents != 0) {
            last_words_.read_some();
        }
        if (ready[2].revents != 0) {
            checksum_.read_some();
        }
        return false;
    }

    // The program and all that it has started are asked to end, then made to.
    void stop(sys::ChildProcess& process)
    {
        sys::signal_descendants(SIGTERM);
        ::kill(process.pid(), SIGTERM);  // where the kernel does not tell who our descendants are
        ::kill(process.pid(), SIGCONT);  // one that is stopped would not hear it
        const nanoseconds deadline = clock_.now() + grace;
        while (clock_.now() < deadline && !signals_.pending() &&
               !wait_for_end(process, std::max(deadline - clock_.now(), nanoseconds::zero()))) {
        }
        sys::signal_descendants(SIGKILL);
        ::kill(process.pid(), SIGKILL);
    }

    const sys::Clock& clock_;
    const sys::StopSignals& signals_;
    nanoseconds timeout_;
    LastWords last_words_;
    Checksum checksum_;
    std::string recorder_;  // empty: nothing is counted
    std::string counts_folder_;
    Hold hold_;
};

// Removed with all that is in it.
class CountsFolder {
  public:
    [[nodiscard]] static base::Expected<CountsFolder> make()
    {
        std::error_code problem;
        const fs::path temporary = fs::temp_directory_path(problem);
        std::string path = (problem ? fs::path{"/tmp"} : temporary) / "memsweep-counts-XXXXXX";
        if (::mkdtemp(path.data()) == nullptr) {
            return base::fail(base::os_error("mkdtemp", errno, path));
        }
        return CountsFolder{std::move(path)};
    }
    CountsFolder(CountsFolder&& other) noexcept : path_{std::exchange(other.path_, {})} {}
    CountsFolder& operator=(CountsFolder&&) = delete;
    ~CountsFolder()
    {
        std::error_code problem;
        if (!path_.empty()) {
            fs::remove_all(path_, problem);
        }
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    explicit CountsFolder(std::string path) : path_{std::move(path)} {}

    std::string path_;
};

std::string with_last_words(std::string text, const ProgramEnd& end)
{
    return end.last_words.empty() ? text : fmt::format("{}; its last words: {}", text, end.last_words);
}

// Why the end is no good; empty when it is. Turns a bad exit into `crashed`.
std::string judge(ProgramEnd& end, std::uint32_t exit_code, nanoseconds timeout)
{
    switch (end.ending) {
    case Ending::timed_out:
        return with_last_words(fmt::format("still running after {}", base::format_duration(sys::seconds_of(timeout))),
                               end);
    case Ending::finished:
        if (end.status.signal == 0 && end.status.code == static_cast<int>(exit_code)) {
            return {};
        }
        end.ending = Ending::crashed;
        return with_last_words(exit_code == 0 || end.status.signal != 0
                                   ? end.status.describe()
                                   : fmt::format("{}, not {}", end.status.describe(), exit_code),
                               end);
    case Ending::interrupted:
    case Ending::refused:
    case Ending::unmet:
    case Ending::crashed:
    case Ending::broken:
        break;
    }
    return end.reason;
}

void nobody(int /*pid*/) {}

}  // namespace

CommandExecutor::CommandExecutor(const sys::Clock& clock, const sys::StopSignals& signals,
                                 base::Expected<std::string> recorder)
    : clock_{clock}, signals_{signals}, recorder_{std::move(recorder)}
{
    sys::adopt_orphans();
}

void CommandExecutor::do_beside(const Program& program, const RunLimits& limits, std::string_view what,
                                const std::vector<std::string>& words, Outcome& outcome) const
{
    if (words.empty() || outcome.ending == Ending::interrupted) {
        return;
    }
    model::CommandSpec surrounding = *program.command;
    surrounding.input.clear();  // which `prepare` may be there to make
    ProgramEnd end = Supervision{clock_, signals_, limits.timeout}.run(surrounding, words, {}, model::output_discarded,
                                                                       {}, nullptr, nobody);
    std::string why = judge(end, 0, limits.timeout);
    if (end.ending != Ending::finished && outcome.ending == Ending::finished) {
        outcome.ending = end.ending == Ending::interrupted ? Ending::interrupted : Ending::broken;
        outcome.reason = fmt::format("{}: {}", what, why);
    }
}

void CommandExecutor::prepare(const Program& program, const RunLimits& limits, Outcome& outcome) const
{
    outcome.ending = signals_.arrived() ? Ending::interrupted : Ending::finished;
    do_beside(program, limits, "prepare", program.command->prepare, outcome);
}

// Follows whatever the program has done, unless the user wants an end.
void CommandExecutor::clean_up(const Program& program, const RunLimits& limits, Outcome& outcome) const
{
    do_beside(program, limits, "cleanup", program.command->cleanup, outcome);
}

Outcome CommandExecutor::run(const Program& program, const RunLimits& limits,
                             const std::function<void(int pid)>& started)
{
    Outcome outcome;
    prepare(program, limits, outcome);
    if (outcome.ending == Ending::finished) {
        outcome = measure(program, limits, started, {});
    }
    clean_up(program, limits, outcome);
    count_behind(program, limits, outcome);
    return outcome;
}

std::vector<Outcome> CommandExecutor::run_together(std::span<const Repetition> repetitions,
                                                   std::span<const std::uint32_t> processors) const
{
    std::vector<Outcome> outcomes(repetitions.size());
    std::vector<Half> halves;
    std::vector<std::size_t> measured;
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        const Repetition& one = repetitions[i];
        prepare(one.program, one.limits, outcomes[i]);
        if (outcomes[i].ending == Ending::finished) {
            const std::uint32_t processor = processors[one.place];
            halves.push_back({.measure =
                                  [this, &one, processor](const std::function<void(int)>& started, const auto& ready) {
                                      return measure(one.program, one.limits, started, {processor, ready});
                                  },
                              .started = one.started,
                              .longest = one.limits.timeout + grace + 2 * end_patience});
            measured.push_back(i);
        }
    }
    std::vector<Outcome> together = run_halves(halves, clock_, signals_);
    for (std::size_t i = 0; i < measured.size(); ++i) {
        outcomes[measured[i]] = std::move(together[i]);
    }
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        clean_up(repetitions[i].program, repetitions[i].limits, outcomes[i]);
    }
    for (std::size_t i = 0; i < repetitions.size(); ++i) {
        count_behind(repetitions[i].program, repetitions[i].limits, outcomes[i]);
    }
    return outcomes;
}

void CommandExecutor::count_behind(const Program& program, const RunLimits& limits, Outcome& outcome) const
{
    if (outcome.ending == Ending::finished && limits.counts) {
        auto counts = count(program, limits);
        outcome.command.why_uncounted = counts ? "" : counts.error().message;
        outcome.command.counts = counts ? std::optional{*counts} : std::nullopt;
        outcome.ending = signals_.arrived() ? Ending::interrupted : Ending::finished;
    }
}

base::Expected<trace::Counts> CommandExecutor::count(const Program& program, const RunLimits& limits) const
{
    const model::CommandSpec& command = *program.command;
    const std::string library = MEMSWEEP_TRY(recorder_);
    MEMSWEEP_TRY(sys::can_be_preloaded(executed(command.run, command.shell)));
    const CountsFolder folder = MEMSWEEP_TRY(CountsFolder::make());
    Outcome outcome;
    prepare(program, limits, outcome);
    if (outcome.ending == Ending::finished) {
        Supervision supervision{clock_, signals_, limits.timeout};
        supervision.count_with(library, folder.path());
        ProgramEnd end =
            supervision.run(command, command.run, program.allocator, model::output_discarded, {}, nullptr, nobody);
        outcome.reason = judge(end, command.exit_code, limits.timeout);
        outcome.ending = end.ending;
    }
    clean_up(program, limits, outcome);
    if (outcome.ending != Ending::finished) {
        return base::fail(base::ErrorCode::os, "counting its allocations: " + outcome.reason);
    }
    return trace::take_counts(folder.path());
}

Outcome CommandExecutor::measure(const Program& program, const RunLimits& limits,
                                 const std::function<void(int pid)>& started, const Hold& hold) const
{
    const model::CommandSpec& command = *program.command;
    const bool keeps_series = limits.series.interval > nanoseconds::zero() && limits.series.working_set;
    TreeSampler sampler{keeps_series};
    Outcome outcome;
    Supervision supervision{clock_, signals_, limits.timeout};
    supervision.hold(hold);
    ProgramEnd end =
        supervision.run(command, command.run, program.allocator, command.output,
                        keeps_series ? limits.series.interval : nanoseconds::zero(), &sampler, [&](int pid) {
                            outcome.pid = pid;
                            started(pid);
                        });
    outcome.reason = judge(end, command.exit_code, limits.timeout);
    outcome.ending = end.ending;
    const sys::ExitStatus& status = end.status;
    RepetitionRecord& record = outcome.record;
    record.wall_ns = end.wall.count();
    record.cpu_ns = (status.user_cpu + status.system_cpu).count();
    record.minor_faults = status.minor_faults;
    record.major_faults = status.major_faults;
    // The kernel's own mark is exact for one process; a sum of several is known as far as it was sampled.
    record.peak_working_set_bytes = std::max(status.max_rss_bytes, end.left.max_rss_bytes);
    if (sampler.most_processes() > 1) {
        record.peak_working_set_bytes = std::max(record.peak_working_set_bytes, sampler.peak_bytes());
    }
    static_cast<CommandUse&>(outcome.command) = {.user_time = status.user_cpu,
                                                 .system_time = status.system_cpu,
                                                 .context_switches = status.context_switches,
                                                 .read_bytes = status.read_bytes,
                                                 .written_bytes = status.written_bytes,
                                                 .pressure_seconds = sampler.stall_seconds(),
                                                 .hardware = end.hardware,
                                                 .left_processes = end.left.processes};
    outcome.command.checksum = std::move(end.checksum);
    for (model::Series& series : sampler.take_series()) {
        if (series.name == "working_set" && !series.t.empty()) {
            outcome.series.push_back(std::move(series));
        }
    }
    return outcome;
}

std::string missing_program(const model::CommandSpec& command)
{
    if (command.shell || !command.prepare.empty() || command.run.empty()) {
        return {};
    }
    const std::string& name = command.run.front();
    if (name.find('/') == std::string::npos) {
        const bool own_path =
            std::ranges::any_of(command.environment, [](const auto& variable) { return variable.first == "PATH"; });
        if (own_path) {
            return {};
        }
        return sys::find_program(name).empty()
                   ? fmt::format("{}: there is no such program in PATH", base::printable(name))
                   : "";
    }
    const std::string path = beside(command.cwd, name);
    std::error_code problem;
    if (fs::is_directory(path, problem)) {
        return fmt::format("{}: is a folder", base::printable(path));
    }
    if (::access(path.c_str(), X_OK) != 0) {
        return fmt::format("{}: {}", base::printable(path),
                           errno == ENOENT ? "there is no such program" : "is not executable");
    }
    return {};
}

}  // namespace memsweep::engine
