// Text of any origin: told from bytes that are none, and made safe for a terminal and for one line of a log.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace memsweep::base {

// The bytes of the UTF-8 sequence that the text begins with; 0: it begins with none, as with overlong forms, surrogates
// and anything above U+10FFFF.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

// The text on one line, and inert. Control characters (those of ASCII and those of two bytes in UTF-8, C1), what turns
// the direction of writing or ends a line, and bytes that are no UTF-8 are written as \t, \n, \r or \x1b. All other
// text stays as it is, a backslash too.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace memsweep::base
