// A command as one text, as people type it: its words.
//
// Sources  POSIX shell, 2.2 Quoting: blanks part words; '...', "..." with backslashes before " \ $ and `, and a
//          backslash before any character keep them together. Nothing is expanded, neither variables nor globs.
// Errors   invalid_input: a quote is not closed, there is no word, or an operator (< > | & ;) stands outside of quotes,
//          which a shell would act on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::vector<std::string>> command_words(std::string_view text);

// A word as a shell takes it for one: in quotes if it needs them.
[[nodiscard]] std::string shell_word(const std::string& word);

// The first word that is nothing but an operator of a shell, such as "|" or "2>"; empty: there is none. Words behind --
// have lost their quotes, so an operator may be meant for the program: `expr 1 '<' 2`, and find's ";".
[[nodiscard]] std::string shell_operator(const std::vector<std::string>& words);

}  // namespace memsweep::base
