// A machine drawn as lstopo draws it: an object in another is a line further in, or a box in its box.
#pragma once

#include <string>

#include "core/sys/topology.hpp"

namespace memsweep::sys {

// A line for each object; an object alone in another with the same processors stands on the other's line, after a "+".
[[nodiscard]] std::string text_of(const Topology& topology);

// A whole SVG document, without scripts and without references to anything outside it.
[[nodiscard]] std::string svg_of(const Topology& topology);

}  // namespace memsweep::sys
