// A document as one HTML file that loads nothing: no font, and nothing from the network. Its own scripts draw the
// charts and sort the tables. The file can be read where scripts are forbidden (CI artifact viewers), in light and
// dark, on paper and on a narrow screen.
//
// Units    as in the terminal. If a value is rounded, the title of its cell has the exact value.
// Errors   none: every name is escaped, and text that is not UTF-8 is repaired with U+FFFD.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

[[nodiscard]] std::string to_html(const Document& content);

// Takes any report that makes a document.
template <typename Report>
[[nodiscard]] std::string to_html(const Report& report)
{
    return to_html(document(report));
}

}  // namespace memsweep::reporters
