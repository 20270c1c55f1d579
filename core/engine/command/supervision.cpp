#include "core/engine/command/supervision.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/quantity.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/file_text.hpp"
#include "core/sys/output_file.hpp"
#include "core/sys/process_probe.hpp"
#include "core/sys/process_stat.hpp"
#include "core/sys/process_tree.hpp"
#include "core/sys/processors.hpp"
#include "core/trace/format/recording_layout.hpp"

namespace memsweep::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr nanoseconds first_sample_after = milliseconds{3};
constexpr nanoseconds shortest_sampling = milliseconds{5};
constexpr nanoseconds stop_check_interval = milliseconds{50};
constexpr nanoseconds grace = milliseconds{1000};         // from SIGTERM to SIGKILL
constexpr nanoseconds end_patience = milliseconds{5000};  // from SIGKILL to the end; the guard has as much
static_assert(longest_ending == grace + 2 * end_patience + EndWatch::patience);

base::Expected<sys::UniqueFd> open_file(const std::string& path, int flags)
{
    constexpr mode_t readable_by_all = 0644;
    sys::UniqueFd file{::open(path.c_str(), flags | O_CLOEXEC, readable_by_all)};
    if (!file.valid()) {
        return base::fail(base::os_error("open", errno, path));
    }
    return file;
}

std::string with_last_words(std::string text, const ProgramEnd& end)
{
    return end.last_words.empty() ? text : fmt::format("{}; its last words: {}", text, end.last_words);
}

// Why a process runs on that SIGKILL did not end.
std::string why_it_runs_on(pid_t process)
{
    const auto name = sys::read_kernel_text(fmt::format("/proc/{}/comm", process));
    std::string_view rest = name ? std::string_view{*name} : std::string_view{};
    const bool is_forbidden = ::kill(process, 0) != 0 && errno == EPERM;
    return fmt::format("process {} ({}) runs on: {}", process, base::printable(sys::take_line(rest)),
                       is_forbidden ? "it has become another user's, whom this user may not end"
                                    : "it did not end within 5 s of SIGKILL");
}

std::string fault_of(ProgramEnd& end, const model::CommandSpec& command, nanoseconds timeout)
{
    switch (end.ending) {
    case Ending::timed_out:
        return with_last_words(
            fmt::format("still running after {}, its timeout", base::format_duration(sys::seconds_of(timeout))), end);
    case Ending::finished:
        if (end.was_asked_to_end && has_obeyed(end.status)) {
            return {};
        }
        if (end.status.signal == 0 && model::is_success(command, static_cast<std::uint32_t>(end.status.code))) {
            return {};
        }
        end.ending = Ending::crashed;
        return with_last_words(command.exit_code == 0 || end.status.signal != 0
                                   ? end.status.describe()
                                   : fmt::format("{}, not {}", end.status.describe(), command.exit_code),
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

}  // namespace

bool has_obeyed(const sys::ExitStatus& status)
{
    constexpr int told_by_shell = 128 + SIGTERM;
    return status.signal == SIGTERM || (status.signal == 0 && (status.code == 0 || status.code == told_by_shell));
}

std::string path_from(const std::string& cwd, const std::string& path)
{
    return cwd.empty() || path.starts_with('/') ? path : cwd + "/" + path;
}

std::vector<std::string> executed(const std::vector<std::string>& words, bool shell)
{
    if (!shell) {
        return words;
    }
    std::vector<std::string> wrapped{"/bin/sh", "-c"};
    wrapped.insert(wrapped.end(), words.begin(), words.end());
    return wrapped;
}

void Supervision::record_with(const std::string& recorder, const std::string& folder, std::string options,
                              trace::TreeLooks& looks)
{
    looks_ = &looks;
    recorder_ = recorder;
    recording_folder_ = folder;
    recording_options_ = std::move(options);
}

void Supervision::hold(const Hold& hold)
{
    hold_ = hold;
}

ProgramEnd Supervision::run(const model::CommandSpec& command, const std::vector<std::string>& words,
                            const model::AllocatorSpec& allocator, const std::string& output, nanoseconds interval,
                            TreeSampler* sampler, const std::function<void(int pid)>& started)
{
    ProgramEnd end;
    if (sampler != nullptr) {
        sampler->begin();
    }
    std::optional<EndWatch> end_watch;
    if (command.end.sign != model::EndSign::none) {
        end_watch.emplace(command.end, command.cwd);
        if (const auto prepared = end_watch->prepare(); !prepared) {
            end.reason = base::describe(prepared.error());
            return end;
        }
    }
    const bool counts = sampler != nullptr && sys::has_hardware_counters();
    // What nobody wants is read all the same where it may hold the sign.
    const bool is_heard = command.end.sign == model::EndSign::line && output == model::output_discarded;
    auto launch = prepare(command, words, allocator, is_heard ? model::output_piped : output);
    if (!launch) {
        end.reason = base::describe(launch.error());
        return end;
    }
    std::optional<sys::HardwareCounters> counters;
    if (counts) {
        counters.emplace(launch->launcher());
    }
    if (end_watch) {
        const std::string file = sys::find_program(words.front());
        end_watch->attach(launch->launcher(), launch->guard(), file.empty() ? "" : path_from(command.cwd, file));
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
    sys::GuardedProgram& running = launched->program;
    started(running.pid());
    if (end_watch) {
        end_watch->begin(running.pid(), running.guard());
    }
    listen(end_watch ? &*end_watch : nullptr);
    watch(running, launched->begun, interval, sampler, end_watch ? &*end_watch : nullptr, end);
    end.wall = clock_.now() - launched->begun;
    if (end.ending != Ending::finished) {
        stop(running);
    } else if (end.was_asked_to_end) {
        let_others_end(running);
    }
    if (end_watch) {
        end_watch->settle();
    }
    if (const auto ended = running.end(end_patience)) {
        end.status = ended->status;
        end.left = ended->left;
        end.runs_on = end.left.survivor != 0 ? why_it_runs_on(end.left.survivor) : "";
    } else {
        end.ending = Ending::broken;
        end.reason = ended.error().message;
        end.left = sys::clear_descendants(end_patience);  // which are ours now
    }
    last_words_.read_all();
    checksum_.read_all();
    if (end_watch) {
        end.at_end = end_watch->finish();
    }
    listen(nullptr);
    end.hardware = counters ? counters->read() : sys::HardwareCounts{};
    end.last_words = last_words_.text();
    end.checksum = output == model::output_checksum ? checksum_.text() : "";
    return end;
}

base::Expected<sys::CommandLaunch> Supervision::prepare(const model::CommandSpec& command,
                                                        const std::vector<std::string>& words,
                                                        const model::AllocatorSpec& allocator,
                                                        const std::string& output)
{
    sys::LaunchOptions options{.program = {.argv = executed(words, command.shell)}, .cwd = command.cwd};
    sys::put_under(allocator, options.program);
    options.program.environment.insert(options.program.environment.end(), command.environment.begin(),
                                       command.environment.end());
    announce_end(command, options.program);
    if (!recorder_.empty()) {
        preload_recorder(options.program);
    }
    const sys::UniqueFd input =
        MEMSWEEP_TRY(open_file(command.input.empty() ? "/dev/null" : path_from(command.cwd, command.input), O_RDONLY));
    options.input = input.get();
    sys::UniqueFd file;
    if (output == model::output_checksum || output == model::output_piped) {
        MEMSWEEP_TRY(checksum_.open(Checksum::pipe_bytes));
        options.output = checksum_.write_end();
    } else if (output != model::output_inherited) {
        file = output == model::output_discarded
                   ? MEMSWEEP_TRY(open_file("/dev/null", O_WRONLY))
                   : MEMSWEEP_TRY(sys::open_output(path_from(command.cwd, output), sys::Start::anew));
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

void Supervision::announce_end(const model::CommandSpec& command, sys::SpawnOptions& program) const
{
    if (command.end.sign == model::EndSign::signal) {
        program.environment.emplace_back(model::end_signal_variable, std::to_string(::getpid()));
    }
}

void Supervision::listen(EndWatch* end_watch)
{
    const auto listener = [end_watch](Printed by) {
        return end_watch == nullptr ? Drain::Listener{}
                                    : [end_watch, by](std::string_view bytes) { end_watch->hear(by, bytes); };
    };
    last_words_.listen(listener(Printed::error));
    checksum_.listen(listener(Printed::output));
}

void Supervision::preload_recorder(sys::SpawnOptions& program) const
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
    program.environment.emplace_back(trace::recording_folder_variable, recording_folder_);
    program.environment.emplace_back(trace::recording_options_variable, recording_options_);
}

void Supervision::watch(const sys::GuardedProgram& running, nanoseconds begin, nanoseconds interval,
                        TreeSampler* sampler, EndWatch* end_watch, ProgramEnd& end)
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
        wait = end_watch != nullptr ? std::min(wait, EndWatch::pause) : wait;
        if (wait_for_end(running, wait)) {
            end.ending = Ending::finished;
            return;
        }
        if (end_watch != nullptr && end_watch->look(clock_.now())) {
            end.was_asked_to_end = true;
            sys::ask_to_end(running.pid(), running.guard());
        }
        if (looks_ != nullptr) {
            looks_->look(sys::descendants_of(running.guard()));
        }
        if (signals_.pending()) {
            end.ending = Ending::interrupted;
            return;
        }
        if (sampler != nullptr && clock_.now() >= next_sample) {
            sampler->sample(running.guard());
            const nanoseconds pause = std::max(shortest_sampling, sampler->pause());
            next_sample = clock_.now() + (interval > nanoseconds::zero() ? interval : pause);
        }
    }
}

bool Supervision::wait_for_end(const sys::GuardedProgram& running, nanoseconds wait)
{
    std::array<pollfd, 4> ready{{{running.fd(), POLLIN, 0},
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

void Supervision::stop(const sys::GuardedProgram& running)
{
    sys::signal_descendants(running.guard(), SIGTERM);
    ::kill(running.pid(), SIGTERM);  // where the kernel does not tell who descends from the guard
    ::kill(running.pid(), SIGCONT);  // one that is stopped would not hear it
    const nanoseconds deadline = clock_.now() + grace;
    while (clock_.now() < deadline && !signals_.pending() &&
           !wait_for_end(running, std::max(deadline - clock_.now(), nanoseconds::zero()))) {
    }
    sys::signal_descendants(running.guard(), SIGKILL);
    ::kill(running.pid(), SIGKILL);
}

// What the program has started was asked to end too, and may need a moment for it.
void Supervision::let_others_end(const sys::GuardedProgram& running)
{
    const auto is_there = [](pid_t process) {
        const auto stat = sys::read_process_stat(fmt::format("/proc/{}/", process));
        return stat && !stat->has_ended();
    };
    const nanoseconds deadline = clock_.now() + grace;
    while (clock_.now() < deadline && !signals_.pending() &&
           std::ranges::any_of(sys::descendants_of(running.guard()), is_there)) {
        const timespec pause = sys::to_timespec(EndWatch::pause);
        ::nanosleep(&pause, nullptr);
        last_words_.read_some();
        checksum_.read_some();
    }
}

std::string judge(ProgramEnd& end, const model::CommandSpec& command, nanoseconds timeout)
{
    std::string why = fault_of(end, command, timeout);
    if (!end.runs_on.empty()) {
        end.ending = end.ending == Ending::finished ? Ending::broken : end.ending;
        why += (why.empty() ? "" : "; ") + end.runs_on;
    }
    return why;
}

}  // namespace memsweep::engine
