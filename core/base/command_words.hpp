// A command as one text, as people type it: its words.
//
// Sources  POSIX shell, 2.2 Quoting: blanks part words; '...', "..." with backslashes before " \ $ and `, and a
//          backslash before any character keep them together. Nothing is expanded: no variables, globs or operators.
// Errors   invalid_input: a quote is not closed, or there is no word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"

namespace memsweep::base {

[[nodiscard]] Expected<std::vector<std::string>> command_words(std::string_view text);

}  // namespace memsweep::base
