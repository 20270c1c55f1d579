// A document in GitHub's Markdown, for a job summary or a comment on a merge request: the verdict first, long tables
// folded away.
//
// Errors   none: what Markdown, HTML or GitHub's own links would make of a name is taken away.
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

// Text inside such a document, on one line and shown as it is. What Markdown, HTML or GitHub's own links (@name, #1,
// addresses) would make of it is taken away. It is for paragraphs, list items and table cells alike.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace memsweep::reporters
