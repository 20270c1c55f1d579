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

// Returns the word; in quotes, unless it has only characters that every shell takes as they are.
[[nodiscard]] std::string shell_word(const std::string& word);

// Returns the first word that is nothing but a shell operator, such as "|" or "2>"; empty: there is no such word. A ";"
// that ends -exec or -ok of find(1) is none. The user may have meant the operator as an argument of the program, as in
// `expr 1 '<' 2`: the shell has already removed the quotes.
[[nodiscard]] std::string shell_operator(const std::vector<std::string>& words);

}  // namespace memsweep::base
