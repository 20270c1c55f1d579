// Writes to pipes, terminals and devices, and to descriptors that are already open.
//
// Sources  write(2), poll(2), fifo(7), setrlimit(2).
// Threads  any.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Opens a pipe or a device for writing; a symbolic link is refused. If the pipe has no reader, waits for one. The wait
// ends as soon as a stop signal is pending (signals.hpp). If StopSignals::pending() has already taken a stop signal
// before the call, the wait ends after two seconds. In both cases errno is EINTR. Returns an invalid descriptor if the
// pipe or device could not be opened; errno says why.
[[nodiscard]] UniqueFd open_stream(const std::string& path) noexcept;

// Writes all of `content`, with as many calls of write(2) as needed. Returns 0, or the errno of the failure. If a pipe
// is full, waits until its reader reads. A stop signal ends this wait in the same way as in open_stream(), and the
// function returns EINTR. If `content` goes beyond the file size limit (RLIMIT_FSIZE), the function returns EFBIG, and
// suppresses SIGXFSZ, because this signal would end the process.
[[nodiscard]] int write_all(int fd, std::string_view content) noexcept;

// Suppresses SIGXFSZ in this thread as long as the object lives. The kernel sends SIGXFSZ to a thread that writes
// beyond RLIMIT_FSIZE.
class NoFileSizeSignal {
  public:
    NoFileSizeSignal() noexcept
    {
        sigemptyset(&size_limit_);
        sigaddset(&size_limit_, SIGXFSZ);
        ::pthread_sigmask(SIG_BLOCK, &size_limit_, &before_);
    }
    NoFileSizeSignal(const NoFileSizeSignal&) = delete;
    NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;
    ~NoFileSizeSignal()
    {
        constexpr timespec at_once{};
        if (sigismember(&before_, SIGXFSZ) == 0) {
            retry_interrupted([&] { return ::sigtimedwait(&size_limit_, nullptr, &at_once); });
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

  private:
    sigset_t size_limit_{};
    sigset_t before_{};
};

}  // namespace memsweep::sys
