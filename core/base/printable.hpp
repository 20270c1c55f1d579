// Checks text from untrusted sources for UTF-8, and makes it safe for a terminal and for one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::base {

// Returns the length, in bytes, of the UTF-8 sequence at the beginning of the text; 0: the text does not begin
// with a valid sequence. 1: the text is empty. Overlong forms, surrogates and values above U+10FFFF are not valid.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// Returns the text as one line that cannot control a terminal. Escapes such as \t, \n, \r and \x1b replace:
// - control characters of ASCII and of C1 (two bytes in UTF-8)
// - characters that change the direction of writing or end a line
// - bytes that are not valid UTF-8
// All other text stays unchanged, including backslashes.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace memsweep::base
