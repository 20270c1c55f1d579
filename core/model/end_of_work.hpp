// When a program has done its work: the moment "at the end", at which its memory is read. An interpreter frees on its
// way out and a server never ends, so that neither the exit nor a time tells it.
//
// Errors   invalid_input: no such sign, or no regular expression.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"

namespace memsweep::model {

enum class EndSign : std::uint8_t {
    none,    // nobody asks for the moment
    exit,    // the program exits, and still has all its memory
    file,    // a file is made
    line,    // a line that it prints matches a regular expression
    signal,  // memsweep gets SIGUSR1
};

struct EndOfWork {
    EndSign sign{};
    std::string text;                 // the file's path, or the regular expression
    std::chrono::nanoseconds idle{};  // the memory is read so long after the sign
    // Whether the sign may come before the exit.
    [[nodiscard]] bool has_sign() const noexcept { return sign != EndSign::none && sign != EndSign::exit; }
    friend bool operator==(const EndOfWork&, const EndOfWork&) = default;
};

// "file:PATH", "line:REGEX", "signal", "exit".
[[nodiscard]] base::Expected<EndOfWork> parse_end_of_work(std::string_view text);
[[nodiscard]] std::string to_text(const EndOfWork& end);

// The variable of the program's environment that has memsweep's pid, where the sign is a signal.
inline constexpr const char* end_signal_variable = "MEMSWEEP_PID";

}  // namespace memsweep::model
