// File descriptors: owned, waited for, and used by system calls that a signal may interrupt.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include "core/base/expected.hpp"

namespace memsweep::sys {

// A file descriptor that is closed exactly once.
//
// Ownership  the descriptor given to the constructor becomes this object's; get() lends, release() gives it away.
class UniqueFd {
  public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) noexcept : fd_{fd} {}
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    UniqueFd(UniqueFd&& other) noexcept : fd_{other.release()} {}
    UniqueFd& operator=(UniqueFd&& other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

    void reset(int fd = -1) noexcept
    {
        const int old = std::exchange(fd_, fd);
        if (old >= 0 && old != fd) {
            ::close(old);  // never retried: on Linux the descriptor is gone even after EINTR
        }
    }

  private:
    int fd_{-1};
};

// System calls that signals interrupt, and the wait for a descriptor, finished properly.

// Repeats a system call for as long as a signal cuts it short.
template <typename Call>
auto retry_interrupted(Call call) noexcept(noexcept(call()))
{
    auto result = call();
    while (result == -1 && errno == EINTR) {
        result = call();
    }
    return result;
}

// True as soon as `fd` is readable or at its end; false when `timeout` has passed first. No timeout: waits for ever.
// A negative timeout is one that has passed. Errors: os, as poll gives them.
[[nodiscard]] base::Expected<bool> wait_readable(int fd, std::optional<std::chrono::nanoseconds> timeout) noexcept;

}  // namespace memsweep::sys
