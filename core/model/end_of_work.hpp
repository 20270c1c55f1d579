// The end of a program's work: the moment at which its memory "at the end" is read. The moment of the exit is not
// always right: an interpreter frees its memory before it exits, and a server never exits. So users choose a sign that
// marks the end of the work.
//
// Errors   invalid_input: an unknown sign, or an invalid regular expression.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/expected.hpp"

namespace memsweep::model {

enum class EndSign : std::uint8_t {
    none,    // no sign was chosen
    exit,    // the program's exit, while it still has all its memory
    file,    // a file is created
    line,    // the program prints a line that matches a regular expression
    signal,  // memsweep gets SIGUSR1
};

struct EndOfWork {
    EndSign sign{};
    std::string text;                 // the file's path, or the regular expression
    std::chrono::nanoseconds idle{};  // the time between the sign and the reading of the memory
    // Whether a sign other than the exit was chosen.
    [[nodiscard]] bool has_sign() const noexcept { return sign != EndSign::none && sign != EndSign::exit; }
    friend bool operator==(const EndOfWork&, const EndOfWork&) = default;
};

// Converts a sign from and to text: "file:PATH", "line:REGEX", "signal" or "exit", as in "line:^ready". `idle` is not
// part of the text. EndSign::none gives an empty text.
[[nodiscard]] base::Expected<EndOfWork> parse_end_of_work(std::string_view text);
[[nodiscard]] std::string to_text(const EndOfWork& end);

// If the sign is a signal, this environment variable of the program holds memsweep's pid.
inline constexpr const char* end_signal_variable = "MEMSWEEP_PID";

}  // namespace memsweep::model
