// Starts foreign programs: programs that are measured, and a command that runs in the foreground for its user.
//
// Two small helper processes run memsweep-launch (core/sys/launcher, which says why they are needed). The launcher
// starts the program. The guard kills the program and its descendants at the end, or when memsweep dies.
//
// Sources  posix_spawn(3) of the launcher; pidfd_open (Linux 5.3).
// Cost     both helper processes are small and statically linked; starting them takes about 0.3 ms, before the
//          program's time begins.
// Errors   os: the kernel refused, or the program cannot be run (`where` is the file or the folder concerned).
// Threads  only one thread at a time may use an object.
// Ownership  if start() was not called, destroying the CommandLaunch ends the launcher. Destroying the GuardedProgram
//          ends the program and its descendants. They also end if this process is killed, even by SIGKILL.
//
// A measured program begins with the default action for the usual signals, an empty signal mask, and a session of its
// own without a terminal. Its only descriptors are standard input, output and error.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"
#include "core/sys/process_tree.hpp"

namespace memsweep::sys {

struct LaunchOptions {
    SpawnOptions program;  // `inherit` is ignored
    std::string cwd;       // working directory; empty: ours
    int input{0};          // our descriptor that becomes the program's standard input
    int output{1};         // our descriptor that becomes the program's standard output
    int error{2};          // our descriptor that becomes the program's standard error
};

// How a program ended, and the processes that it left behind.
struct Ended {
    ExitStatus status;
    Cleared left;
};

// The guard of a program: the helper process that kills the program and its descendants.
class Guard {
  public:
    Guard(pid_t pid, UniqueFd orders) noexcept : pid_{pid}, orders_{std::move(orders)} {}
    Guard(Guard&& other) noexcept : pid_{std::exchange(other.pid_, 0)}, orders_{std::move(other.orders_)} {}
    Guard& operator=(Guard&&) = delete;
    // Ends the guarded program and its descendants, unless leave() was called.
    ~Guard();

    // The pid of the guard. The program and its descendants are descendants of the guard, except if
    // ForegroundOptions::as_child is true.
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // Receives the pid of the launcher, which waits for the order to start the program. Errors: os, the launcher could
    // not be made.
    [[nodiscard]] base::Expected<pid_t> launcher() const;
    // Returns how the program, a child of the guard, has ended. Absent: the program runs, or an earlier call has
    // already returned its status. Code -1: the guard does not answer.
    [[nodiscard]] std::optional<ExitStatus> status_of(pid_t program) const;
    // Kills all descendants of the guard and ends the guard, within about six seconds. Code -1: the program was still
    // running when clear() was called. Errors: os, the guard has died or does not answer; all of its descendants that
    // could be found have been killed.
    [[nodiscard]] base::Expected<Ended> clear(pid_t program);
    // Ends the guard and lets its descendants run on.
    void leave() noexcept;

  private:
    void end() noexcept;

    pid_t pid_;
    UniqueFd orders_;
};

// A program that runs under a guard.
class GuardedProgram {
  public:
    GuardedProgram(pid_t pid, UniqueFd pidfd, Guard guard) noexcept
        : pid_{pid}, pidfd_{std::move(pidfd)}, guard_{std::move(guard)}
    {
    }

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] pid_t guard() const noexcept { return guard_.pid(); }
    // For poll(): readable as soon as the program has ended.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    // Waits for the program's end for at most `patience`, then does Guard::clear().
    [[nodiscard]] base::Expected<Ended> end(std::chrono::nanoseconds patience);

  private:
    pid_t pid_;
    UniqueFd pidfd_;
    Guard guard_;
};

struct Launched {
    GuardedProgram program;
    std::chrono::nanoseconds begun{};  // time of the steady clock just before the program's process was made
};

// The launcher without a program to start. It is the cheapest program with which to measure the cost of starting a
// process.
//
// Errors   not_supported: the launcher's file is missing.
struct IdleProgram {
    std::string path;
    int exit_code{};
};
[[nodiscard]] base::Expected<IdleProgram> idle_program();

class CommandLaunch {
  public:
    // Makes the guard and the launcher. The launcher waits until start(), so counters that cover a process and its
    // children can be attached to the launcher first. While the program runs, the guard is idle and takes no processor
    // time from it.
    [[nodiscard]] static base::Expected<CommandLaunch> prepare(const LaunchOptions& options);

    [[nodiscard]] pid_t launcher() const noexcept { return launcher_; }
    [[nodiscard]] pid_t guard() const noexcept { return guard_.pid(); }

    // Starts the program and returns when the program runs. Call start() at most one time. Errors: os, the program
    // could not be run.
    [[nodiscard]] base::Expected<Launched> start();

    // Use these three in place of start() if another process gives the order, for example to start several programs at
    // the same time. That process inherits gate() and calls release(). Meanwhile we call started(): it waits for
    // release(), then returns what start() returns.
    [[nodiscard]] int gate() const noexcept { return gate_.get(); }
    static void release(int gate) noexcept;
    [[nodiscard]] base::Expected<Launched> started();

  private:
    CommandLaunch(Guard guard, pid_t launcher, UniqueFd gate, std::string program) noexcept;

    Guard guard_;
    pid_t launcher_;
    UniqueFd gate_;
    std::string program_;
};

struct ForegroundOptions {
    SpawnOptions program;  // `inherit` is ignored
    bool as_child{};       // true: a child of this process, and nobody adopts its orphans;
                           // false: a child of the guard, which adopts its orphans
    std::function<void(pid_t launcher, pid_t guard)> before;  // called before the command is started; may be empty
};

// A command that runs as if its user had started it alone: in our process group and on our terminal.
//
// Sources  core/sys/launcher; signalfd(2); pidfd_open (Linux 5.3); wait4.
// Errors   os: the command cannot be started (`where` is the command); not_supported: the launcher's file is missing.
// Threads  call from the main thread, before other threads exist: SIGINT, SIGTERM, SIGHUP and SIGQUIT are blocked while
//          the command runs.
// Ownership  if we are killed, the command and its descendants are killed too. If the command ends by itself, the
//          processes that it left behind run on, because they belong to the user.
//
// The terminal sends its signals (Ctrl-C) to the command too. We pass on signals that were sent to us alone. After the
// end of the command, signals have their usual effect on us.
class ForegroundCommand {
  public:
    // The launcher forks the command, so the peak resident set of the command does not include ours.
    [[nodiscard]] static base::Expected<ForegroundCommand> start(const ForegroundOptions& options);

    ForegroundCommand(const ForegroundCommand&) = delete;
    ForegroundCommand& operator=(const ForegroundCommand&) = delete;
    ForegroundCommand(ForegroundCommand&& other) noexcept;
    ForegroundCommand& operator=(ForegroundCommand&&) = delete;
    ~ForegroundCommand();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // The time of the steady clock just before the command's process was made.
    [[nodiscard]] std::chrono::nanoseconds begun() const noexcept { return begun_; }
    // The guard, from which the command and its orphans descend. Only if `as_child` is false.
    [[nodiscard]] pid_t guard() const noexcept { return guard_->pid(); }

    // Waits until the command has ended. Call wait() at most one time. If `each` is given, calls each() about once per
    // `interval` meanwhile.
    [[nodiscard]] ExitStatus wait(std::chrono::nanoseconds interval = {}, const std::function<void()>& each = {});

  private:
    ForegroundCommand() noexcept;
    [[nodiscard]] std::optional<ExitStatus> status() const;
    void pass_on_signals() const;
    void take_signals_back() noexcept;

    pid_t pid_{};
    std::chrono::nanoseconds begun_{};
    sigset_t mask_before_{};
    bool masks_{};
    bool is_child_{};
    UniqueFd signals_;
    UniqueFd pidfd_;
    std::optional<Guard> guard_;
};

}  // namespace memsweep::sys
