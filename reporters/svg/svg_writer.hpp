// The first chart of a report's page as one picture, for a README or a slide: no script, no font, nothing from outside.
// It is light or dark like the reader's screen, if the viewer supports that.
//
// Units    pixels; a dot's value in words stands beside it.
// Errors   none: where there is nothing to draw, a picture of one sentence says so. Names are escaped.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// Draws the charts of the first section that has one of dots or of tinted cells, below each other: the time and the
// peak of each case, a map of a sweep, or what changed. Curves are drawn by the page alone.
[[nodiscard]] std::string to_svg(const Document& content);

// Takes any report that makes a document.
template <typename Report>
[[nodiscard]] std::string to_svg(const Report& report)
{
    return to_svg(document(report));
}

}  // namespace memsweep::reporters
