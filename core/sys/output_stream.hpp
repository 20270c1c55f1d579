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

// Opens a pipe or a device, but no regular file and no link, to write to. If a pipe has no reader yet, it waits for
// one. It gives up as soon as a stop signal is pending (see signals.hpp). If a stop signal was taken before, it gives
// up after two seconds of waiting. Returns an invalid descriptor with errno set if it cannot open.
[[nodiscard]] UniqueFd open_stream(const std::string& path) noexcept;

// Writes all of `content`, in as many parts as the kernel takes; returns the errno, or 0. If no reader takes it, it
// waits as open_stream does, then returns EINTR. Beyond a file size limit (RLIMIT_FSIZE) it returns EFBIG, in place of
// the signal that would end the process.
[[nodiscard]] int write_all(int fd, std::string_view content) noexcept;

// Holds back SIGXFSZ, which a write beyond RLIMIT_FSIZE sends to the writing thread, for as long as the object lives.
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
