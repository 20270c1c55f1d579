// A document in GitHub's Markdown, for a job summary or a comment on a merge request: the verdict first, long tables
// folded away.
//
// Errors   none: names are escaped, so that Markdown, HTML and GitHub's own links do not act on them.
#pragma once

#include <string>
#include <string_view>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_markdown(const Document& content);

// Takes any report that makes a document.
template <typename Report>
[[nodiscard]] std::string to_markdown(const Report& report)
{
    return to_markdown(document(report));
}

// Returns a text for a paragraph, a list item or a table cell of a Markdown document. The result is on one line. It is
// escaped, so that Markdown, HTML and GitHub's own links (@name, #1, addresses) do not act on it.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace memsweep::reporters
