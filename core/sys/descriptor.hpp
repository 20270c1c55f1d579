// File descriptors: a class that owns and closes a descriptor, a function that waits until a descriptor is readable,
// and a function that repeats interrupted system calls.
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
// Ownership  the object owns the descriptor that was given to its constructor, until release().
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
            ::close(old);  // not retried: on Linux the descriptor is closed even after EINTR
        }
    }

  private:
    int fd_{-1};
};

// Repeats a system call as long as signals interrupt it (EINTR).
template <typename Call>
auto retry_interrupted(Call call) noexcept(noexcept(call()))
{
    auto result = call();
    while (result == -1 && errno == EINTR) {
        result = call();
    }
    return result;
}

// Waits until `fd` is readable or has reached its end, and returns true. Returns false if `timeout` passes first.
// Without a timeout, waits for ever; a negative timeout counts as 0. Errors: os, those of poll(2).
[[nodiscard]] base::Expected<bool> wait_readable(int fd, std::optional<std::chrono::nanoseconds> timeout) noexcept;

}  // namespace memsweep::sys
