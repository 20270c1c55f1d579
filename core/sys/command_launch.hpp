// The start of a foreign program that is to be measured.
//
// Sources  posix_spawn(3) of core/sys/launcher, which says why it is there; pidfd_open (Linux 5.3).
// Cost     one more process, small and without a dynamic linker: about 0.2 ms before the program's time begins.
// Errors   os: the kernel refused, or the program cannot be run (`where` is what it was said of).
// Threads  as ChildProcess: from a thread that outlives the program.
// Ownership  a launcher that was not told to start its program ends with this object.
//
// The program begins with the default action for the usual signals, an empty mask, a session of its own without a
// terminal, and no descriptor of ours but its standard three. It is killed when we die, however that comes about.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <utility>

#include "core/base/expected.hpp"
#include "core/sys/child_process.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

struct LaunchOptions {
    SpawnOptions program;  // `inherit` is not looked at
    std::string cwd;       // empty: ours
    int input{0};          // descriptors of ours
    int output{1};
    int error{2};
    bool waits{};  // for start() or release(): whatever counts what a process and its children do can be put on the
                   // launcher before
};

struct Launched {
    ChildProcess process;
    std::chrono::nanoseconds begun{};  // on the steady clock, just before its process was made
};

// The cheapest program that there is: what starts others, told to start none.
//
// Errors   not_supported: it is missing.
struct IdleProgram {
    std::string path;
    int exit_code{};
};
[[nodiscard]] base::Expected<IdleProgram> idle_program();

class CommandLaunch {
  public:
    // The launcher waits: whatever counts what a process and its children do can be put on it before the program
    // begins.
    [[nodiscard]] static base::Expected<CommandLaunch> prepare(const LaunchOptions& options);

    CommandLaunch(CommandLaunch&&) noexcept = default;
    CommandLaunch& operator=(CommandLaunch&&) = delete;
    ~CommandLaunch();

    [[nodiscard]] pid_t launcher() const noexcept { return launcher_.pid; }

    // Once; returns when the program runs, or could not be run.
    [[nodiscard]] base::Expected<Launched> start();

    // In place of start(), where somebody else gives the word, as a process that starts several at once: who has the
    // gate, or a copy of it, calls release(). `waits` is set; started() waits for that, and is otherwise as start().
    [[nodiscard]] int gate() const noexcept { return socket_.get(); }
    static void release(int gate) noexcept;
    [[nodiscard]] base::Expected<Launched> started();

  private:
    friend class ForegroundCommand;  // which has a launcher start it, too
    struct Born {
        pid_t pid{};
        std::chrono::nanoseconds begun{};
        int refused{};  // errno of what became of its program; 0: it runs
    };
    // Errors   os: no process was made.
    [[nodiscard]] base::Expected<Born> born();

    struct Launcher {
        pid_t pid{};
        Launcher() = default;
        Launcher(Launcher&& other) noexcept : pid{std::exchange(other.pid, 0)} {}
    };
    CommandLaunch(Launcher launcher, UniqueFd socket, std::string program, bool waits) noexcept;
    void reap() noexcept;

    Launcher launcher_;
    UniqueFd socket_;
    std::string program_;
    bool waits_;
};

}  // namespace memsweep::sys
