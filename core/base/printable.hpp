// Text of any origin: checked for UTF-8, and made safe for a terminal and for one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::base {

// The length in bytes of the UTF-8 sequence at the beginning of the text; 0: there is none. Overlong forms, surrogates
// and anything above U+10FFFF do not count as one.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The text on one line, and inert. Escapes such as \t, \n, \r and \x1b replace three things: control characters (those
// of ASCII, and those of C1, which take two bytes in UTF-8); characters that turn the direction of writing or end a
// line; and bytes that are no UTF-8. All other text stays as it is, a backslash too.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace memsweep::base
