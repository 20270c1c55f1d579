#include "core/sys/exit_stop.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

namespace memsweep::sys {

// Shared with the thread, which outlives the object where the kernel never tells of an end.
struct ExitStop::State {
    pid_t process{};
    std::function<void()> look;
    std::mutex mutex;
    std::condition_variable changed;
    bool has_tried{};
    int problem{};  // errno of an attachment that failed
    bool is_done{};

    void trace();
    void follow();
};

namespace {

void* as_data(std::uintptr_t value)
{
    return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr): ptrace takes numbers so
}

// What stops a process without our doing, and keeps it stopped.
bool stops_the_group(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

}  // namespace

void ExitStop::State::trace()
{
    const bool is_ours = ::ptrace(PTRACE_SEIZE, process, nullptr, as_data(PTRACE_O_TRACEEXIT)) == 0;
    {
        const std::scoped_lock lock{mutex};
        problem = is_ours ? 0 : errno;
        has_tried = true;
    }
    changed.notify_all();
    if (is_ours) {
        follow();
    }
    {
        const std::scoped_lock lock{mutex};
        is_done = true;
    }
    changed.notify_all();
}

void ExitStop::State::follow()
{
    while (true) {
        int status = 0;
        const pid_t got = ::waitpid(process, &status, __WALL);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 || !WIFSTOPPED(status)) {
            return;
        }
        const int event = status >> 16;
        const int signal = WSTOPSIG(status);
        if (event == PTRACE_EVENT_EXIT) {
            look();
            ::ptrace(PTRACE_DETACH, process, nullptr, nullptr);
            return;
        }
        if (event == PTRACE_EVENT_STOP && stops_the_group(signal)) {
            ::ptrace(PTRACE_LISTEN, process, nullptr, nullptr);
        } else {
            const int passed_on = event == 0 ? signal : 0;
            ::ptrace(PTRACE_CONT, process, nullptr, as_data(static_cast<std::uintptr_t>(passed_on)));
        }
    }
}

base::Expected<std::unique_ptr<ExitStop>> ExitStop::attach(pid_t process, std::function<void()> look)
{
    const auto state = std::make_shared<State>();
    state->process = process;
    state->look = std::move(look);
    std::thread{[state] { state->trace(); }}.detach();
    std::unique_lock lock{state->mutex};
    state->changed.wait(lock, [&] { return state->has_tried; });
    if (state->problem != 0) {
        return base::fail(base::os_error("ptrace", state->problem));
    }
    return std::unique_ptr<ExitStop>{new ExitStop{state}};
}

ExitStop::~ExitStop()
{
    static_cast<void>(wait(std::chrono::seconds{1}));
}

bool ExitStop::wait(std::chrono::nanoseconds patience) const
{
    std::unique_lock lock{state_->mutex};
    return state_->changed.wait_for(lock, patience, [&] { return state_->is_done; });
}

}  // namespace memsweep::sys
