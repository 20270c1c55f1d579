#include "core/sys/traced_program.hpp"

#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {
namespace {

constexpr unsigned long trace_options =
    PTRACE_O_TRACEEXIT | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
constexpr unsigned long search_options =
    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

// The number of the system call that a thread that stands is in; -1: none, or it is not known.
long call_of(pid_t process, pid_t thread)
{
    const std::string text = read_word(fmt::format("/proc/{}/task/{}/syscall", process, thread));
    const auto number = base::parse_number(std::string_view{text}.substr(0, text.find(' ')));
    return number ? static_cast<long>(*number) : -1;
}

class Tracing {
  public:
    Tracing(pid_t command, const ProgramStops& stops)
        : command_{command}, process_{stops.is_wanted ? 0 : command}, stops_{stops}, running_{command}
    {
    }

    // Of the command.
    ExitStatus wait()
    {
        while (!is_over()) {
            take_all();
            if (!is_over()) {
                wait_a_moment();
                release_before_exec();
                give_up_if_late();
                ask_meanwhile();
            }
        }
        return *command_ended_;
    }

  private:
    using Clock = std::chrono::steady_clock;
    // How a thread that stands goes on.
    struct Held {
        int signal{};
        bool listens{};  // it was stopped with its whole process, and stays so
    };
    // All threads are to stand.
    struct Gathering {
        std::optional<std::uint32_t> call;  // absent: it was asked for
        pid_t thread{};
        Clock::time_point since;
    };

    [[nodiscard]] bool is_searching() const noexcept { return process_ == 0; }
    // What the command leaves behind may become what is wanted a moment after its end.
    [[nodiscard]] bool has_searched() const
    {
        constexpr std::chrono::seconds patience{2};
        return is_searching() && (running_.empty() || Clock::now() - command_ended_at_ > patience);
    }
    [[nodiscard]] bool is_over() const { return command_ended_ && (has_ended_ || has_searched()); }

    void take_all()
    {
        for (;;) {
            int status = 0;
            rusage usage{};
            const pid_t thread = ::wait4(-1, &status, __WALL | WNOHANG, &usage);
            if (thread == 0 || (thread < 0 && errno != EINTR)) {
                if (thread < 0 && errno == ECHILD) {
                    command_ended_ = command_ended_.value_or(ExitStatus{.code = -1});
                    has_ended_ = true;
                }
                return;
            }
            if (thread < 0) {
                continue;
            }
            if (WIFSTOPPED(status)) {
                take_stop(thread, status);
            } else {
                forget(thread);
                if (thread == command_) {
                    command_ended_ = exit_status(status, usage);
                    command_ended_at_ = Clock::now();
                    end_what_is_left();
                }
                has_ended_ = has_ended_ || thread == process_;
                if (is_over()) {
                    return;
                }
                stop_if_all_stand();
            }
            look_if_gathered();
        }
    }

    // Any thread of any process that the command has started.
    void take_stop_in_search(pid_t thread, int event, int signal)
    {
        running_.insert(thread);
        unsigned long started = 0;
        if (event == PTRACE_EVENT_EXEC && stops_.is_wanted(thread)) {
            follow(thread);
        } else {
            const bool starts =
                event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
            if (starts && ::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &started) == 0) {
                running_.insert(static_cast<pid_t>(started));  // which comes here itself a moment later
            }
            release(thread,
                    {.signal = event == 0 ? signal : 0, .listens = event == PTRACE_EVENT_STOP && is_stop(signal)});
        }
    }

    void follow(pid_t process)
    {
        process_ = process;
        has_executed_ = true;
        for (const pid_t other : std::exchange(running_, {process})) {
            if (other != process) {
                ::ptrace(PTRACE_INTERRUPT, other, nullptr, nullptr);
            }
        }
        ::ptrace(PTRACE_SETOPTIONS, process, nullptr, trace_options);
        go_on(process, 0);
    }

    // A thread of another process than the one that is followed: one that the search has traced, or that such a one has
    // started before it was let go.
    [[nodiscard]] bool is_foreign(pid_t thread) const
    {
        return stops_.is_wanted && thread != process_ && !running_.contains(thread) && !standing_.contains(thread) &&
               ::access(fmt::format("/proc/{}/task/{}", process_, thread).c_str(), F_OK) != 0;
    }

    static bool is_stop(int signal)
    {
        return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
    }

    void take_stop(pid_t thread, int status)
    {
        const int event = status >> 16;
        const int signal = WSTOPSIG(status);
        unsigned long message = 0;
        if (is_searching()) {
            take_stop_in_search(thread, event, signal);
            return;
        }
        if (is_foreign(thread)) {
            ::ptrace(PTRACE_DETACH, thread, nullptr, event == 0 ? signal : 0);
            return;
        }
        switch (event) {
        case PTRACE_EVENT_EXIT:
            ::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &message);
            take_exit(thread, static_cast<int>(message));
            return;
        case PTRACE_EVENT_CLONE:
            if (::ptrace(PTRACE_GETEVENTMSG, thread, nullptr, &message) == 0) {
                running_.insert(static_cast<pid_t>(message));
            }
            go_on_or_stand(thread, {});
            return;
        case PTRACE_EVENT_EXEC:  // the thread has the process's number now, and is alone
            standing_.clear();
            held_.clear();
            running_ = {process_};
            has_executed_ = true;
            go_on_or_stand(thread, {});
            return;
        case PTRACE_EVENT_STOP:
            running_.insert(thread);  // a new one may come here before its parent has told of it
            go_on_or_stand(thread, {.listens = is_stop(signal)});
            return;
        default:
            if (const auto call = call_of_program(thread, signal)) {
                take_call(thread, *call);
            } else {
                go_on_or_stand(thread, {.signal = signal});
            }
            return;
        }
    }

    [[nodiscard]] std::optional<std::uint32_t> call_of_program(pid_t thread, int signal) const
    {
        siginfo_t info{};
        if (stops_.call_mark == 0 || signal != ProgramStops::call_signal ||
            ::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info) != 0 || info.si_code != SI_QUEUE) {
            return std::nullopt;
        }
        const auto value = reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr);
        constexpr unsigned half = 32;
        return value >> half == stops_.call_mark ? std::optional{static_cast<std::uint32_t>(value)} : std::nullopt;
    }

    void take_call(pid_t thread, std::uint32_t call)
    {
        if (gathering_) {
            held_[thread] = {};
            waiting_call_ = {{call, thread, Clock::now()}};
            return;
        }
        held_[thread] = {};
        gather({call, thread, Clock::now()});
    }

    void gather(const Gathering& what)
    {
        gathering_ = what;
        for (const pid_t thread : running_) {
            if (!held_.contains(thread)) {
                ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr);
            }
        }
        look_if_gathered();
    }

    void look_if_gathered()
    {
        if (!gathering_ || held_.size() < running_.size() || held_.empty()) {
            return;
        }
        const Gathering now = *gathering_;
        if (now.call) {
            stops_.at_call({.process = process_, .thread = now.thread, .since = now.since}, *now.call);
        } else {
            stops_.at_asked({.process = process_, .thread = held_.begin()->first, .since = now.since});
        }
        end_gathering();
    }

    void end_gathering()
    {
        gathering_.reset();
        const auto next = std::exchange(waiting_call_, std::nullopt);
        for (const auto& [thread, held] : std::exchange(held_, {})) {
            if (next && next->thread == thread) {
                held_[thread] = held;
            } else {
                release(thread, held);
            }
        }
        if (next) {
            gather(*next);
        }
    }

    // A thread in a system call that nothing interrupts, as behind vfork(2), may not stand for long.
    void give_up_if_late()
    {
        constexpr std::chrono::seconds patience{2};
        if (gathering_ && Clock::now() - gathering_->since > patience) {
            end_gathering();
        }
    }

    void ask_meanwhile()
    {
        const bool is_there = has_executed_ && !is_searching() && !running_.empty();
        if (!stops_.meanwhile || gathering_ || Clock::now() < next_ask_ || (!is_there && !stops_.is_wanted)) {
            return;
        }
        if (stops_.meanwhile(is_there ? process_ : 0) && is_there) {
            gather({.call = std::nullopt, .thread = process_, .since = Clock::now()});
        }
        next_ask_ = Clock::now() + stops_.pause;
    }

    // One thread that ends while others go on is let go at once; those of an ending process stand until all do.
    void take_exit(pid_t thread, int status)
    {
        running_.erase(thread);
        held_.erase(thread);
        if (has_stopped_ || (call_of(process_, thread) == SYS_exit && !running_.empty())) {
            go_on(thread, 0);
            return;
        }
        if (standing_.empty()) {
            ending_since_ = Clock::now();
        }
        standing_.insert(thread);
        status_ = status;
        stop_if_all_stand();
    }

    void stop_if_all_stand()
    {
        if (standing_.empty() || !running_.empty()) {
            return;
        }
        gathering_.reset();
        if (!std::exchange(has_stopped_, true)) {
            stops_.at_end(
                {.process = process_, .thread = *standing_.begin(), .status = status_, .since = ending_since_});
        }
        release_ending();
    }

    void release_ending()
    {
        for (const pid_t thread : std::exchange(standing_, {})) {
            go_on(thread, 0);
        }
    }

    // A thread that becomes another program ends all others first, and waits for them.
    void release_before_exec()
    {
        if (!standing_.empty() && std::ranges::any_of(running_, [&](pid_t thread) {
                const long call = call_of(process_, thread);
                return call == SYS_execve || call == SYS_execveat;
            })) {
            release_ending();
        }
    }

    void forget(pid_t thread)
    {
        running_.erase(thread);
        standing_.erase(thread);
        held_.erase(thread);
    }

    void go_on_or_stand(pid_t thread, const Held& how)
    {
        if (gathering_) {
            held_[thread] = how;
        } else {
            release(thread, how);
        }
    }

    static void release(pid_t thread, const Held& how)
    {
        if (how.listens) {
            ::ptrace(PTRACE_LISTEN, thread, nullptr, nullptr);
        } else {
            go_on(thread, how.signal);
        }
    }

    static void go_on(pid_t thread, int signal) { ::ptrace(PTRACE_CONT, thread, nullptr, signal); }

    [[nodiscard]] std::chrono::nanoseconds patience() const
    {
        constexpr std::chrono::milliseconds at_rest{100};
        constexpr std::chrono::milliseconds ending{5};
        const std::chrono::nanoseconds longest = standing_.empty() && !gathering_ ? at_rest : ending;
        return stops_.meanwhile ? std::min(longest, stops_.pause) : longest;
    }

    // The terminal has ended the command, and what is followed has not heard it.
    void end_what_is_left() const
    {
        if (was_interrupted_ && !is_searching() && process_ != command_ && !has_ended_) {
            ::kill(process_, SIGTERM);
        }
    }

    void wait_a_moment()
    {
        const timespec most{0, patience().count()};
        const sigset_t set = awaited_signals();
        siginfo_t info{};
        const int signal = ::sigtimedwait(&set, &info, &most);
        if (signal > 0 && signal != SIGCHLD) {
            pass_on(signal, info.si_code > 0);
        }
    }

    // The terminal sends to the command itself. What is followed may be in another session, or ignore SIGINT, as a
    // process does that a shell has started by "&".
    void pass_on(int signal, bool is_terminals)
    {
        was_interrupted_ = was_interrupted_ || is_terminals;
        if (!is_terminals && !command_ended_) {
            ::kill(command_, signal);
        }
        if (!is_searching() && process_ != command_ && !has_ended_ && (!is_terminals || command_ended_)) {
            ::kill(process_, is_terminals ? SIGTERM : signal);
        }
    }

    pid_t command_;
    pid_t process_;  // that is followed; 0: it is looked for
    const ProgramStops& stops_;
    std::set<pid_t> running_;     // those that do not stand at their end; while it is looked for, all that are traced
    std::set<pid_t> standing_;    // at their end
    std::map<pid_t, Held> held_;  // of those that run, while all are to stand
    std::optional<Gathering> gathering_;
    std::optional<Gathering> waiting_call_;
    Clock::time_point ending_since_;
    Clock::time_point next_ask_;
    int status_{};
    bool has_stopped_{};
    bool has_executed_{};
    bool has_ended_{};        // what is followed
    bool was_interrupted_{};  // by the terminal
    std::optional<ExitStatus> command_ended_;
    Clock::time_point command_ended_at_;
};

}  // namespace

unsigned long first_options(const ProgramStops& stops)
{
    return stops.is_wanted ? search_options : trace_options;
}

sigset_t awaited_signals()
{
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        sigaddset(&set, signal);
    }
    return set;
}

ExitStatus trace_to_end(pid_t command, const ProgramStops& stops)
{
    return Tracing{command, stops}.wait();
}

}  // namespace memsweep::sys
