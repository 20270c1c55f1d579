// Child processes of this process: starts them, and tells how they ended and what they used.
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
// Sources  wait4 and its rusage. The numbers include the children that the process has waited for.
struct ExitStatus {
    int code{};    // valid if `signal` is 0; -1: unknown, as when SIGCHLD is ignored and the kernel reaped the process
    int signal{};  // the signal that killed it; 0: it exited by itself
    std::uint64_t max_rss_bytes{};  // never below what its parent had resident at the fork, because the child begins so
    std::uint64_t minor_faults{};
    std::uint64_t major_faults{};
    std::chrono::nanoseconds user_cpu{};
    std::chrono::nanoseconds system_cpu{};
    std::uint64_t context_switches{};  // voluntary and involuntary
    std::uint64_t read_bytes{};        // from storage, counted in blocks of 512 bytes
    std::uint64_t written_bytes{};     // to storage, counted in blocks of 512 bytes

    [[nodiscard]] bool success() const noexcept { return code == 0 && signal == 0; }

    // "exit code 3", "killed by signal 9 (SIGKILL)".
    [[nodiscard]] std::string describe() const;
};

// Converts the results of wait4.
[[nodiscard]] ExitStatus exit_status(int wait_status, const rusage& usage) noexcept;

// How a child is started.
struct SpawnOptions {
    std::vector<std::string> argv;                                   // argv[0] is looked up in PATH if it has no '/'
    std::vector<std::pair<std::string, std::string>> environment{};  // added to ours; replaces ours of the same name
    std::vector<std::pair<int, int>> inherit{};                      // our descriptor -> its number in the child
    std::vector<std::string> without{};                              // variables of ours that the child does not get
    int output{1};  // our descriptor that becomes standard output; ChildProcess ignores it
    int error{2};   // our descriptor that becomes standard error; ChildProcess ignores it
};

// The environment of a child with these options, as NAME=VALUE. Errors: invalid_input, a bad name.
[[nodiscard]] base::Expected<std::vector<std::string>> child_environment(const SpawnOptions& options);

// A child process that does not outlive this process: a worker, a watched command, or a copy of this process.
//
// Sources  fork and execve; PR_SET_PDEATHSIG; pidfd_open (Linux 5.3); wait4.
// Errors   invalid_input: an empty argv, a bad environment name or descriptor number; os: the kernel refused, or execve
//          failed (`where` is the program).
// Threads  spawn from a thread that outlives the child, best the main thread: the kernel kills the child when the
//          thread that forked it ends.
// Ownership  the destructor kills the process group of a child that has not ended, and reaps the child.
//
// The child starts with an empty signal mask and the default action for SIGINT, SIGTERM, SIGPIPE and SIGCHLD. It gets
// our standard input, output and error (`output` and `error` are ignored), and only those other descriptors that
// `inherit` names. It leads its own process group. So Ctrl-C in a terminal reaches only us, and we decide whether to
// end the child. A child that reads from the terminal is stopped by SIGTTIN. If this process dies for any reason, the
// kernel kills the child.
class ChildProcess {
  public:
    // Returns when the program has started, or an error if it cannot start.
    [[nodiscard]] static base::Expected<ChildProcess> spawn(const SpawnOptions& options);

    // Forks a copy of this process. The copy calls `work`, then ends with exit code 0, or by a signal if `work` throws.
    // The copy has our descriptors and signal mask, leads its own process group, and adopts its orphaned descendants.
    //
    // Threads  this process must have no other thread: a lock held by that thread would stay locked in the copy.
    [[nodiscard]] static base::Expected<ChildProcess> copy(const std::function<void()>& work);

    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;
    ChildProcess(ChildProcess&& other) noexcept;
    ChildProcess& operator=(ChildProcess&& other) noexcept;
    ~ChildProcess();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // For poll(): readable as soon as the child has ended.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }

    // Returns the status if the child has ended; absent: the child still runs. May be called again after the end.
    [[nodiscard]] std::optional<ExitStatus> try_wait() noexcept;
    // Waits until the child has ended, but at most `duration`. Absent: the child still runs.
    [[nodiscard]] std::optional<ExitStatus> wait_for(std::chrono::nanoseconds duration) noexcept;

    // Sends SIGKILL to the child and its process group, reaps the child, and returns its status. If the child has
    // already ended, only returns its status.
    ExitStatus kill_and_reap() noexcept;

  private:
    ChildProcess(pid_t pid, UniqueFd pidfd) noexcept;

    // `flags` are those of wait4.
    std::optional<ExitStatus> reap(int flags) noexcept;

    pid_t pid_{-1};
    UniqueFd pidfd_;
    std::optional<ExitStatus> status_;
};

// Converts `texts` for execve and posix_spawn, with a null pointer at the end. The pointers point into `texts`, which
// must outlive the result. execve and posix_spawn do not write to the texts.
[[nodiscard]] std::vector<char*> exec_list(const std::vector<std::string>& texts);

// The status as a shell reports it: the exit code, or 128 plus the signal.
[[nodiscard]] int shell_status(const ExitStatus& status) noexcept;

}  // namespace memsweep::sys
