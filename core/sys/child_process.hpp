// Programs that this process runs, how they ended and what they used.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/descriptor.hpp"

struct rusage;

namespace memsweep::sys {

// How a process ended, and what it used.
//
// Units    bytes, event counts, std::chrono.
// Sources  wait4 and its rusage, which includes the children that the process has waited for.
struct ExitStatus {
    int code{};    // meaningful when signal is 0; -1: unknown, somebody else has reaped it (SIGCHLD is ignored)
    int signal{};  // the signal that killed it; 0: it exited by itself
    std::uint64_t max_rss_bytes{};  // at least the peak of the process that spawned it: fork copies that
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::chrono::nanoseconds user_cpu{};
    std::chrono::nanoseconds system_cpu{};
    std::uint64_t context_switches{};  // voluntary and not
    std::uint64_t read_bytes{};        // from storage, by the blocks that the kernel counts
    std::uint64_t written_bytes{};

    [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0; }

    // "exit code 3", "killed by signal 9 (SIGKILL)".
    [[nodiscard]] std::string describe() const;
};

// The exit status that wait4 gave.
[[nodiscard]] ExitStatus exit_status(int wait_status, const rusage& usage) noexcept;

// A child process that does not outlive us: a worker, the command that is watched, or a copy of this process.
//
// Sources  fork and execve; PR_SET_PDEATHSIG; pidfd_open (Linux 5.3); wait4.
// Errors   invalid_input: an empty argv, a bad environment name or descriptor number; os: the kernel refused, and also
//          an execve that failed (`where` is the program): it is an error here, not a child that dies.
// Threads  spawn from a thread that outlives the child, best the main thread: the kernel ties "the parent has died" to
//          the thread that forked, and would kill the child at that thread's end.
// Ownership  the destructor kills the child's process group and reaps the child.
//
// The child starts with an empty signal mask and the default action for SIGINT, SIGTERM, SIGPIPE and SIGCHLD. It has
// our standard input, output and error (`output` and `error` are ignored). Of other descriptors it has only those in
// `inherit`. It leads its own process group. So a terminal's Ctrl-C reaches only us, and we decide whether to end the
// child. And SIGTTIN stops a child that reads from the terminal. The child is killed when the driver dies, for
// whatever reason.
struct SpawnOptions {
    std::vector<std::string> argv;                                   // argv[0] is looked up in PATH when it has no '/'
    std::vector<std::pair<std::string, std::string>> environment{};  // added to ours, or replacing it by name
    std::vector<std::pair<int, int>> inherit{};                      // our descriptor -> its number in the child
    std::vector<std::string> without{};                              // variables of ours that the child does not get
    int output{1};  // for a command in the foreground: our descriptors for its standard output and error
    int error{2};
};

// The environment of such a child, as NAME=VALUE. Errors: invalid_input, as above.
[[nodiscard]] base::Expected<std::vector<std::string>> child_environment(const SpawnOptions& options);

class ChildProcess {
  public:
    // Returns when the program has been started, or could not be.
    [[nodiscard]] static base::Expected<ChildProcess> spawn(const SpawnOptions& options);

    // A copy of this process that does `work` and ends: exit code 0, or a signal if the work throws. It has our
    // descriptors and our mask of signals, leads its own process group, and adopts the orphans of what it starts.
    //
    // Threads  there must be no other thread: a lock that it holds would stay locked in the copy.
    [[nodiscard]] static base::Expected<ChildProcess> copy(const std::function<void()>& work);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // For poll(): readable once the child has ended.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }

    // The status once the child has ended, as often as asked.
    [[nodiscard]] std::optional<ExitStatus> try_wait() noexcept;
    [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::nanoseconds duration) noexcept;

    // SIGKILL to the child and its process group; the status tells whether it had ended before.
    ExitStatus kill_and_reap() noexcept;

  private:
    ChildProcess(pid_t pid, UniqueFd pidfd) noexcept;

    // flags: as of wait4.
    std::optional<ExitStatus> reap(int flags) noexcept;

    pid_t pid_{-1};
    UniqueFd pidfd_;
    std::optional<ExitStatus> status_;
};

// The list in the form that execve and posix_spawn take; they do not write to the texts. It points into `texts`, which
// must outlive it, and ends with a null pointer.
[[nodiscard]] std::vector<char*> exec_list(const std::vector<std::string>& texts);

// The status as a shell reports it: the exit code, or 128 plus the signal.
[[nodiscard]] int shell_status(const ExitStatus& status) noexcept;

}  // namespace memsweep::sys
