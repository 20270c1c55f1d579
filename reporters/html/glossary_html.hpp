// Explains, at the end of a page, the words of the glossary that the page uses. So a reader of the page needs no other
// document.
//
// Sources  docs/glossary.md, compiled into the program.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// Returns a folded list of the glossary's words that `body` contains as whole words; empty if `body` contains none.
[[nodiscard]] std::string glossary_html(std::string_view body);

}  // namespace memsweep::reporters
