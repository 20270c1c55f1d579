#include "core/sys/exit_stop.hpp"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/file_text.hpp"

namespace memsweep::sys {

// Shared with the thread, which outlives the object where the kernel never tells of an end.
struct ExitStop::State {
    pid_t parent{};
    std::function<void(pid_t)> look;
    std::mutex mutex;
    std::condition_variable changed;
    bool has_tried{};
    int problem{};  // errno of an attachment that failed
    bool is_done{};
    bool is_outlived{};

    void trace();
    void follow(pid_t process);
};

namespace {

void* as_data(std::uintptr_t value)
{
    return reinterpret_cast<void*>(value);  // NOLINT(performance-no-int-to-ptr): ptrace takes numbers so
}

constexpr std::uintptr_t child_options =
    PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT;

// What stops a process without our doing, and keeps it stopped.
bool stops_the_group(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

int event_of(int status)
{
    return status >> 16;
}

// Waits until the process stops. False: it has ended, and who waits for it by right gets its status.
bool next_stop(pid_t process, int& status)
{
    return retry_interrupted([&] { return ::waitpid(process, &status, __WALL); }) == process && WIFSTOPPED(status);
}

// Lets a stopped process go on, with the signal that it has stopped for.
void go_on(pid_t process, int status)
{
    const int signal = WSTOPSIG(status);
    if (event_of(status) == PTRACE_EVENT_STOP && stops_the_group(signal)) {
        ::ptrace(PTRACE_LISTEN, process, nullptr, nullptr);
        return;
    }
    const int passed_on = event_of(status) == 0 ? signal : 0;
    ::ptrace(PTRACE_CONT, process, nullptr, as_data(static_cast<std::uintptr_t>(passed_on)));
}

// Another thread of a process whose main thread exits goes on: an exit_group(2) would have killed it.
bool has_another_thread(pid_t process)
{
    constexpr std::uint64_t sigkill_bit = std::uint64_t{1} << (SIGKILL - 1U);
    const std::string tasks = fmt::format("/proc/{}/task/", process);
    std::error_code gone;
    for (const auto& thread : std::filesystem::directory_iterator{tasks, gone}) {
        if (thread.path().filename() == std::to_string(process)) {
            continue;
        }
        const auto status = read_kernel_text(thread.path().string() + "/status");
        const auto pending = status ? find_field(*status, "SigPnd") : std::nullopt;
        const bool is_killed = pending && (base::parse_number(*pending, 16).value_or(0) & sigkill_bit) != 0;
        if (pending && !is_killed && find_field(*status, "VmRSS")) {
            return true;
        }
    }
    return false;
}

// Whether that is so for a while: one that has taken its SIGKILL gives up the memory when it is scheduled.
bool goes_on(pid_t process)
{
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds{300};
    while (has_another_thread(process)) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    return false;
}

// 0: the parent has ended without a child.
pid_t next_child(pid_t parent)
{
    int status = 0;
    while (next_stop(parent, status)) {
        unsigned long child = 0;
        const int event = event_of(status);
        const bool is_made = event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE;
        if (is_made && ::ptrace(PTRACE_GETEVENTMSG, parent, nullptr, &child) == 0) {
            ::ptrace(PTRACE_DETACH, parent, nullptr, nullptr);
            return static_cast<pid_t>(child);
        }
        go_on(parent, status);
    }
    return 0;
}

}  // namespace

void ExitStop::State::trace()
{
    const bool is_ours = ::ptrace(PTRACE_SEIZE, parent, nullptr, as_data(child_options)) == 0;
    {
        const std::scoped_lock lock{mutex};
        problem = is_ours ? 0 : errno;
        has_tried = true;
    }
    changed.notify_all();
    if (const pid_t process = is_ours ? next_child(parent) : 0; process != 0) {
        follow(process);
    }
    {
        const std::scoped_lock lock{mutex};
        is_done = true;
    }
    changed.notify_all();
}

void ExitStop::State::follow(pid_t process)
{
    int status = 0;
    if (!next_stop(process, status)) {
        return;
    }
    // It has its parent's options, by which its own children would stop.
    ::ptrace(PTRACE_SETOPTIONS, process, nullptr, as_data(PTRACE_O_TRACEEXIT));
    do {
        if (event_of(status) == PTRACE_EVENT_EXIT) {
            const bool is_end = !goes_on(process);
            if (is_end) {
                look(process);
            }
            if (::ptrace(PTRACE_DETACH, process, nullptr, nullptr) != 0) {
                static_cast<void>(next_stop(process, status));  // killed meanwhile: its status goes on to its parent
            }
            const std::scoped_lock lock{mutex};
            is_outlived = !is_end;
            return;
        }
        go_on(process, status);
    } while (next_stop(process, status));
}

base::Expected<std::unique_ptr<ExitStop>> ExitStop::attach_to_child_of(pid_t parent, std::function<void(pid_t)> look)
{
    const auto state = std::make_shared<State>();
    state->parent = parent;
    state->look = std::move(look);
    try {
        std::thread{[state] { state->trace(); }}.detach();
    } catch (const std::system_error& refused) {
        return base::fail(base::os_error("pthread_create", refused.code().value()));
    }
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

bool ExitStop::is_outlived() const
{
    const std::scoped_lock lock{state_->mutex};
    return state_->is_outlived;
}

}  // namespace memsweep::sys
