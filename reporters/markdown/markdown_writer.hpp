// A document in GitHub's Markdown, for a job summary or a comment on a merge request: the verdict first, long tables
// folded away.
//
// Errors   none: what Markdown, HTML or GitHub's own links would make of a name is taken away.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_markdown(const Document& content);

// Of anything that makes a document.
template <typename Report>
[[nodiscard]] std::string to_markdown(const Report& report)
{
    return to_markdown(document(report, Audience{.medium = Medium::markdown}));
}

}  // namespace memsweep::reporters
