// Splits a command line into words, and quotes words for a shell.
//
// Sources  POSIX shell, 2.2 Quoting. Blanks separate words, except in '...', in "..." (where a backslash escapes " \ $
//          and `), or after a backslash. Neither variables nor globs are expanded.
// Errors   invalid_input: a quote is not closed, there is no word, or a shell operator (< > | & ;) stands outside of
//          quotes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::vector<std::string>> command_words(std::string_view text);

// The word, quoted if a shell would otherwise not read it as one word.
[[nodiscard]] std::string shell_word(const std::string& word);

// The first word that consists only of a shell operator, such as "|" or "2>"; empty: there is none. The shell has
// already removed quotes from words after --, so the operator may be meant for the program: `expr 1 '<' 2`, or find's
// ";".
[[nodiscard]] std::string shell_operator(const std::vector<std::string>& words);

}  // namespace memsweep::base
