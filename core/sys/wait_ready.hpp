// System calls that signals interrupt, and the wait for a descriptor, finished properly.
#pragma once

#include <cerrno>
#include <chrono>
#include <optional>

#include "core/base/expected.hpp"

namespace memsweep::sys {

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
