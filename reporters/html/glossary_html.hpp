// The words of the glossary that a page uses, explained below it, so that the page needs no other document.
//
// Sources  docs/glossary.md, put into the program when it is built.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// A list, folded away, of the words that stand in `body` as whole words; empty if there is none.
[[nodiscard]] std::string glossary_html(std::string_view body);

}  // namespace memsweep::reporters
