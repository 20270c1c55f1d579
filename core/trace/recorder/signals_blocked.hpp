// Blocks all signals of the thread until the end of the scope. Otherwise, a signal handler that allocates could wait
// for a lock that its own thread holds.
#pragma once

#include "core/trace/recorder/recording_file.hpp"

namespace memsweep::trace::recorder {

class SignalsBlocked {
  public:
    SignalsBlocked() noexcept
    {
        const unsigned long long all = ~0ULL;
        kernel(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, &before_, sizeof all);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &before_, nullptr, sizeof before_); }

  private:
    unsigned long long before_{};
};

}  // namespace memsweep::trace::recorder
