// Characters beyond ASCII in mangled names.
//
// Sources  RFC 3492 (Punycode), with an underscore before what is encoded, as RFC 2603 of Rust has it.
// Cost     some 10 ns a character, and their number squared in bytes moved.
// Threads  any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memsweep::trace {

// Whether Unicode has such a character; surrogates are none.
[[nodiscard]] bool is_character(std::uint64_t code);
// As UTF-8.
void append_character(std::string& text, std::uint32_t character);
// False: it is none, or more than 128 characters.
[[nodiscard]] bool append_punycode(std::string& text, std::string_view identifier);

}  // namespace memsweep::trace
