// Starts foreign programs: programs that are measured, and a command that its user waits for.
//
// Sources  posix_spawn(3) of core/sys/launcher, which says why it is there; pidfd_open (Linux 5.3).
// Cost     two more processes, small and without a dynamic linker: about 0.3 ms before the program's time begins.
// Errors   os: the kernel refused, or the program cannot be run (`where` is the file or the folder in question).
// Threads  one at a time.
// Ownership  a launcher that was not told to start its program ends with this object. The program and all that it has
//          started end with the GuardedProgram. They also end with this process, even if SIGKILL ends it: they are
//          children of the guard, which kills them.
//
// The program begins with the default action for the usual signals, an empty mask, a session of its own without a
// terminal, and no descriptor of ours but its standard three.
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
    SpawnOptions program;  // `inherit` is not looked at
    std::string cwd;       // empty: ours
    int input{0};          // descriptors of ours
    int output{1};
    int error{2};
};

// How a program ended, and what it left behind.
struct Ended {
    ExitStatus status;
    Cleared left;
};

// The process that stands between us and a program.
class Guard {
  public:
    Guard(pid_t pid, UniqueFd orders) noexcept : pid_{pid}, orders_{std::move(orders)} {}
    Guard(Guard&& other) noexcept : pid_{std::exchange(other.pid_, 0)}, orders_{std::move(other.orders_)} {}
    Guard& operator=(Guard&&) = delete;
    // Ends the guarded program and its descendants, unless leave() was called.
    ~Guard();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }  // the program and what it starts descend from it

    // The process that waits for the order to start the program. Errors: os, it could not be made.
    [[nodiscard]] base::Expected<pid_t> launcher() const;
    // How the guard's child, the program, has ended; told once. Empty: it runs. Code -1: the guard is lost.
    [[nodiscard]] std::optional<ExitStatus> status_of(pid_t program) const;
    // Kills all descendants of the guard, and ends the guard. Takes six seconds at most, even if the kernel refuses.
    // The code -1: the program runs on.
    // Errors: os, the guard was lost; its descendants have been killed as far as they could be found.
    [[nodiscard]] base::Expected<Ended> clear(pid_t program);
    // Ends the guard and leaves its descendants alone.
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
    // For poll(): readable once the program has ended.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    // Waits for the program at most so long, then ends it and all processes that it has left behind. As Guard::clear.
    [[nodiscard]] base::Expected<Ended> end(std::chrono::nanoseconds patience);

  private:
    pid_t pid_;
    UniqueFd pidfd_;
    Guard guard_;
};

struct Launched {
    GuardedProgram program;
    std::chrono::nanoseconds begun{};  // on the steady clock, just before its process was made
};

// The cheapest program that there is: the launcher, told to start none.
//
// Errors   not_supported: it is missing.
struct IdleProgram {
    std::string path;
    int exit_code{};
};
[[nodiscard]] base::Expected<IdleProgram> idle_program();

class CommandLaunch {
  public:
    // The launcher waits, so counters of a process and its children can be attached to it before the program begins.
    // The guard has nothing left to do then, so it takes no processor from the program.
    [[nodiscard]] static base::Expected<CommandLaunch> prepare(const LaunchOptions& options);

    [[nodiscard]] pid_t launcher() const noexcept { return launcher_; }
    [[nodiscard]] pid_t guard() const noexcept { return guard_.pid(); }

    // Starts the program, once. Returns when the program runs, or could not be run.
    [[nodiscard]] base::Expected<Launched> start();

    // Use this in place of start() if another process gives the word, such as one that starts several programs at once.
    // The owner of the gate, or of a copy of it, calls release(). started() waits for that, and is otherwise as
    // start().
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
    SpawnOptions program;  // `inherit` is not looked at
    bool as_child{};       // as if we had started it: a child of this process, whose orphans nobody adopts;
                           // else it and its orphans belong to the guard
    std::function<void(pid_t launcher, pid_t guard)> before;  // called while the launcher waits to start it; or empty
};

// A command that runs as if its user had started it alone: in our process group and on our terminal.
//
// Sources  core/sys/launcher; signalfd(2); pidfd_open (Linux 5.3); wait4.
// Errors   os: it cannot be started (`where` is the command); not_supported: there is no launcher.
// Threads  from the main thread, before others: SIGINT, SIGTERM, SIGHUP and SIGQUIT stay blocked while it runs.
// Ownership  if we are killed, the command and its descendants at that time end with us. If it ends by itself, the
//          processes that it leaves behind run on: they are its user's.
//
// Signals of the terminal (Ctrl-C) reach the command by themselves; signals sent to us alone are passed on. We end when
// the command does; from then on signals are for us.
class ForegroundCommand {
  public:
    // The command does not inherit our largest resident set.
    [[nodiscard]] static base::Expected<ForegroundCommand> start(const ForegroundOptions& options);

    ForegroundCommand(const ForegroundCommand&) = delete;
    ForegroundCommand& operator=(const ForegroundCommand&) = delete;
    ForegroundCommand(ForegroundCommand&& other) noexcept;
    ForegroundCommand& operator=(ForegroundCommand&&) = delete;
    ~ForegroundCommand();

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // When the command began, on the steady clock, just before its process was made.
    [[nodiscard]] std::chrono::nanoseconds begun() const noexcept { return begun_; }
    // The process that the command and its orphans descend from. Not for a command that is our own child.
    [[nodiscard]] pid_t guard() const noexcept { return guard_->pid(); }

    // Waits until the command has ended, once. Calls `each` about every `interval` meanwhile, if there is one.
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
