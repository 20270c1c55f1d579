// System calls without the C library's wrappers: those are points where a thread may be cancelled, and other preloaded
// libraries stand in front of them.
//
// Errors   a negative errno as the result, as the kernel gives it; errno itself stays as it was.
#pragma once

#include <cerrno>

#include <sys/syscall.h>
#include <unistd.h>

namespace memsweep::trace::recorder {

template <typename... Arguments>
long kernel(long number, Arguments... arguments) noexcept
{
    const int before = errno;
    const long result = ::syscall(number, arguments...);
    const long outcome = result == -1 ? -errno : result;
    errno = before;
    return outcome;
}

// Signals wait until the end of the block: a handler that allocates must not meet a lock that its own thread holds.
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
