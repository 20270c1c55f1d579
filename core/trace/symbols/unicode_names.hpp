// Decodes characters beyond ASCII in mangled names.
//
// Sources  RFC 3492 (Punycode), with an underscore before the encoded part, as in Rust's RFC 2603.
// Cost     some 10 ns a character. append_punycode() takes more: its time grows with the square of the number of
//          characters.
// Threads  any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memsweep::trace {

// Whether Unicode has a character with this number. Surrogates are not characters.
[[nodiscard]] bool is_character(std::uint64_t code);
// Appends the character as UTF-8.
void append_character(std::string& text, std::uint32_t character);
// Appends the decoded identifier as UTF-8. False: the identifier is not Punycode, or has more than 128 characters.
[[nodiscard]] bool append_punycode(std::string& text, std::string_view identifier);

}  // namespace memsweep::trace
