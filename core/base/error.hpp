// An expected failure: what kind, what to tell the user, and where it lies.
//
// Errors   `where` is a file:line:col, a path, a flag or a step; empty when there is no place to name.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::base {

enum class ErrorCode {
    invalid_input,  // the user's file or argument is wrong
    os,             // the kernel refused
    io,             // a file cannot be read or written
    not_supported,  // this machine or build lacks it
    budget,         // it would need more memory than allowed
    device,         // a call of an accelerator's runtime failed
    timeout,
    worker,  // a worker process crashed or broke the protocol
    interrupted,
};

struct Error {
    ErrorCode code{};
    std::string message;
    std::string where;
};

// "where: message", or the message alone.
[[nodiscard]] std::string describe(const Error& error);

// An os error with errno's text: "mmap: Cannot allocate memory".
[[nodiscard]] Error os_error(std::string_view what, int errno_value, std::string_view where = {});

}  // namespace memsweep::base
