// Signals: those that ask this process to stop, and those of a faulting access.
#pragma once

#include <csignal>
#include <optional>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Stop signals, such as Ctrl-C, that the program asks for; they interrupt nothing.
//
// Sources  SIGINT, SIGTERM and SIGHUP, blocked and read through a signalfd. A signal that is ignored stays so: under
//          nohup, or in a shell's background job, it is not for us.
// Errors   none: without a descriptor to spare fd() is -1, which poll() passes over, and pending() works all the same.
// Threads  blocks in the constructing thread, and in those it starts later: make it in main, before any thread.
// Ownership  the destructor restores the thread's signal mask; a signal that nobody has asked for by then takes effect
//          at once, which by default ends the process.
class StopSignals {
  public:
    StopSignals() noexcept;
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;
    ~StopSignals();

    // Takes the next stop signal that has arrived (SIGINT, ...); empty when there is none. Never waits.
    [[nodiscard]] std::optional<int> pending() const noexcept;

    // The signal that pending gave last, 0 before the first.
    [[nodiscard]] int last() const noexcept { return last_; }

    // Whether any has arrived so far, taken or not.
    [[nodiscard]] bool arrived() const noexcept { return last_ != 0 || pending().has_value(); }

    // For poll(): readable while a signal is pending. Only pending reads it.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  private:
    sigset_t stop_{};
    sigset_t mask_before_{};
    UniqueFd fd_;
    mutable int last_{};  // mutable for pending(): taking a signal changes the process, not the signals held here
};

// Blocks all signals in the calling thread for as long as it is there. A thread that is begun meanwhile gets none:
// signals are for whoever waits for the command.
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

// Whether a stop signal has arrived that this thread blocks and nobody has taken yet. For code that waits and has no
// StopSignals at hand.
[[nodiscard]] bool stop_signal_waits() noexcept;

// Whether one has been taken already: this process is on its way out.
[[nodiscard]] bool stop_signal_taken() noexcept;

// Runs a piece of code that may touch inaccessible memory, and returns if it does.
//
// Sources  sigaction(2), siglongjmp(3): SIGSEGV and SIGBUS are delivered to the thread that caused them.
// Cost     the first use installs handlers for the process; then about 20 ns per call.
// Threads  each thread has its own trap; a fault outside any trap has its former effect.
// Errors   the code must not hold locks or own anything when it faults: nothing is unwound.
struct Trapped {
    bool faulted{};
    const void* address{};  // that was touched
};

[[nodiscard]] Trapped run_trapped(void (*code)(void* context), void* context);

// The same for a callable.
template <typename Code>
[[nodiscard]] Trapped trapped(const Code& code)
{
    const Code* place = &code;
    return run_trapped([](void* context) { (**static_cast<const Code**>(context))(); }, &place);
}

}  // namespace memsweep::sys
