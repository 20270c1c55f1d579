// How text for a terminal looks: width, colour, paragraphs.
#pragma once

#include <string>
#include <string_view>

#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct TerminalStyle {
    int width{80};   // no line is longer, down to a width of 40; names are elided in the middle, numbers never
    bool color{};    // ANSI colours, as meaning beside the words, never instead of them
    bool verbose{};  // every case in every table, warm-up facts, intervals and the machine in full
};

// The text itself when the style has no colour.
[[nodiscard]] std::string painted(const std::string& text, Tone tone, const TerminalStyle& style);
[[nodiscard]] std::string heading(const std::string& text, const TerminalStyle& style);

[[nodiscard]] int usable_width(const TerminalStyle& style);  // characters of a line: at least 40

// Wrapped to the style's width: the first line starts with `mark`, the others with as many blanks.
[[nodiscard]] std::string paragraph(std::string_view text, const std::string& mark, const TerminalStyle& style,
                                    Tone tone = Tone::plain);

}  // namespace memsweep::reporters
