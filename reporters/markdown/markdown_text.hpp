// Text inside a GitHub-flavoured Markdown document.
#pragma once

#include <string>
#include <string_view>

namespace memsweep::reporters {

// On one line, and shown as it is: what Markdown, HTML or GitHub's own links (@name, #1, addresses) would make of it is
// taken away. For paragraphs, list items and table cells alike.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace memsweep::reporters
