// A child process that does not outlive us: a worker, or the command that is watched.
//
// Sources  fork and execve; PR_SET_PDEATHSIG; pidfd_open (Linux 5.3); wait4.
// Errors   invalid_input: an empty argv, a bad environment name or descriptor number; os: the kernel refused, and also
//          an execve that failed (`where` is the program): it is an error here, not a child that dies.
// Threads  spawn from a thread that outlives the child, best the main thread: the kernel ties "the parent has died" to
//          the thread that forked, and would kill the child at that thread's end.
// Ownership  the destructor kills the child's process group and reaps the child.
//
// The child starts with an empty signal mask, the default action for SIGINT, SIGTERM, SIGPIPE and SIGCHLD, standard
// input, output and error of ours, and of all other descriptors only those in `inherit`. It leads its own process
// group, so a terminal's Ctrl-C reaches the driver alone, which decides what becomes of the child; a child that reads
// from the terminal is stopped by SIGTTIN. It is killed when the driver dies, however that comes about.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "core/base/expected.hpp"
#include "core/sys/exit_status.hpp"
#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

struct SpawnOptions {
    std::vector<std::string> argv;                                   // argv[0] is looked up in PATH when it has no '/'
    std::vector<std::pair<std::string, std::string>> environment{};  // added to ours, or replacing it by name
    std::vector<std::pair<int, int>> inherit{};                      // our descriptor -> its number in the child
    std::vector<std::string> without{};                              // variables of ours that the child does not get
};

class ChildProcess {
  public:
    // Returns when the program has been started, or could not be.
    [[nodiscard]] static base::Expected<ChildProcess> spawn(const SpawnOptions& options);

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

}  // namespace memsweep::sys
