// The first charts of a report's page as one picture, for a README or a slide. It has no script and no font, and loads
// nothing. The picture is light or dark like the reader's screen, if the viewer supports that.
//
// Units    pixels. The value of each dot is written beside the dot.
// Errors   none: if there is nothing to draw, the picture is a sentence that says so. Names are escaped.
#pragma once

#include <string>

#include "reporters/document/document.hpp"

namespace memsweep::reporters {

// Draws, below each other, the charts of the first section that has a chart of dots or of tinted cells. These charts
// show the time and the peak of each case, a map of a sweep, or what changed. Curves are drawn in pages only.
[[nodiscard]] std::string to_svg(const Document& content);

// Takes any report that makes a document.
template <typename Report>
[[nodiscard]] std::string to_svg(const Report& report)
{
    return to_svg(document(report));
}

}  // namespace memsweep::reporters
