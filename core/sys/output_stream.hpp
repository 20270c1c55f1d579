// Writing to what is already open, or is no file: pipes, terminals, devices.
//
// Sources  write(2), poll(2), fifo(7), setrlimit(2).
// Threads  any.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// Opens what is no regular file, and no link, to write to. A pipe that has no reader yet is waited for, until a stop
// signal waits (see signals.hpp), or for two seconds after one was taken. Invalid with errno set when it cannot be
// opened.
[[nodiscard]] UniqueFd open_stream(const std::string& path) noexcept;

// All of `content`, whatever parts the kernel takes it in; the errno, or 0. Where nobody takes it in it waits as
// open_stream does, then EINTR. Beyond a file size limit (RLIMIT_FSIZE) it is EFBIG rather than the signal that would
// end the process.
[[nodiscard]] int write_all(int fd, std::string_view content) noexcept;

// Takes away SIGXFSZ, which a write beyond RLIMIT_FSIZE sends to the writing thread, for as long as it lives.
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
