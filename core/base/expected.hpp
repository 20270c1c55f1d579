// Expected holds a value, or the Error that says why there is no value.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace memsweep::base {

enum class ErrorCode {
    invalid_input,  // the user's file or argument is wrong
    os,             // a system call failed
    io,             // a file cannot be read or written
    not_supported,  // this machine or build lacks a feature
    budget,         // more memory or time would be needed than is allowed
    device,         // a call to an accelerator's runtime failed
    timeout,
    worker,  // a worker process crashed or broke the protocol
    interrupted,
};

// An expected failure: its kind, the message for the user, and what the message is about (`where`).
struct Error {
    ErrorCode code{};
    std::string message;
    std::string where;  // file:line:col, a path, a flag or a step; empty: not known
};

// Returns "where: message", or the message alone if `where` is empty.
[[nodiscard]] std::string describe(const Error& error);

// Makes an error of code `os` whose message ends with the text of errno: "mmap: Cannot allocate memory".
[[nodiscard]] Error os_error(std::string_view what, int errno_value, std::string_view where = {});

template <typename T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error)
{
    return tl::unexpected<Error>{std::move(error)};
}

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {})
{
    return tl::unexpected<Error>{Error{code, std::move(message), std::move(where)}};
}

// For MEMSWEEP_TRY: moves the value out of an Expected that holds a value.
template <typename T>
T taken(Expected<T>&& expected)
{
    return *std::move(expected);
}
inline void taken(Expected<void>&& /*expected*/) {}

}  // namespace memsweep::base

// Yields the value of an Expected. If it holds an error instead, the enclosing function returns this error.
//
//     const auto stream = MEMSWEEP_TRY(device::open_stream(runtime, device));
//     MEMSWEEP_TRY(runtime.wait(stream.id()));
//
// This is a statement expression, an extension of GCC and Clang, because no expression of standard C++ can return from
// the enclosing function.
#define MEMSWEEP_TRY(expression)                                                                                       \
    __extension__({                                                                                                    \
        auto memsweep_tried = (expression);                                                                            \
        if (!memsweep_tried) {                                                                                         \
            return ::memsweep::base::fail(std::move(memsweep_tried).error());                                          \
        }                                                                                                              \
        ::memsweep::base::taken(std::move(memsweep_tried));                                                            \
    })
