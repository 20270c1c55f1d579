// Signals that ask this process to stop, and signals caused by an access to inaccessible memory.
#pragma once

#include <csignal>
#include <optional>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Receives stop signals, such as Ctrl-C, when the program asks for them. The signals do not interrupt anything.
//
// Sources  SIGINT, SIGTERM and SIGHUP, blocked and read through a signalfd. A signal that this process already ignores,
//          as under nohup or in a background job of a shell, remains ignored.
// Errors   none: if no descriptor is free, fd() is -1, which poll() ignores, and pending() still works.
// Threads  the constructor blocks the signals in its thread, and so in all threads that this thread starts later. So
//          make the object in main, before any thread is started.
// Ownership  the destructor restores the thread's signal mask. After that, a signal that is still pending takes effect;
//            by default it ends the process.
class StopSignals {
  public:
    StopSignals() noexcept;
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    ~StopSignals();

    // Takes one stop signal that has arrived, and returns its number, such as SIGINT. Absent: none has arrived. Never
    // waits.
    [[nodiscard]] std::optional<int> pending() const noexcept;

    // Returns the last signal that pending() returned; 0: it has returned none so far.
    [[nodiscard]] int last() const noexcept { return last_; }

    // Says whether a stop signal has arrived since this object was made. Takes the signal if it is still pending.
    [[nodiscard]] bool arrived() const noexcept { return last_ != 0 || pending().has_value(); }

    // Returns a descriptor for poll(): it is readable while a signal is pending. Do not read from it; call pending().
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  private:
    sigset_t stop_{};
    sigset_t mask_before_{};
    UniqueFd fd_;
    mutable int last_{};  // mutable, because pending() is const
};

// Blocks all signals in the calling thread as long as the object lives. Threads that this thread starts meanwhile
// inherit the mask, so they never handle a signal; other threads of the process do.
class AllSignalsBlocked {
  public:
    AllSignalsBlocked() noexcept
    {
        sigset_t all;
        sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~AllSignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    AllSignalsBlocked(const AllSignalsBlocked&) = delete;
    AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

  private:
    sigset_t before_{};
};

// Says whether a stop signal is pending: it has arrived, this thread blocks it, and nobody has taken it yet. This
// function is for code that waits and has no StopSignals object.
[[nodiscard]] bool stop_signal_waits() noexcept;

// Says whether StopSignals::pending() has taken a stop signal at any time: this process is then about to end.
[[nodiscard]] bool stop_signal_taken() noexcept;

// run_trapped() runs code that may access inaccessible memory. It returns when an access faults, or when the code ends.
//
// Sources  sigaction(2), siglongjmp(3). The kernel delivers SIGSEGV and SIGBUS to the thread that caused them.
// Cost     the first call installs signal handlers for the process. Later calls take about 20 ns.
// Threads  any; several threads may be in run_trapped() at once. A fault outside of run_trapped() has the same effect
//          as without these handlers.
// Errors   none. When the code faults, no destructors run, so it must not own resources or hold locks at an access that
//          may fault.
struct Trapped {
    bool faulted{};
    const void* address{};  // the address whose access faulted
};

[[nodiscard]] Trapped run_trapped(void (*code)(void* context), void* context);

// run_trapped() for a callable.
template <typename Code>
[[nodiscard]] Trapped trapped(const Code& code)
{
    const Code* place = &code;
    return run_trapped([](void* context) { (**static_cast<const Code**>(context))(); }, &place);
}

}  // namespace memsweep::sys
