// How text for a terminal looks: width, colour, paragraphs.
#pragma once

#include <string>
#include <string_view>

#include "reporters/document/table.hpp"

namespace memsweep::reporters {

struct TerminalStyle {
    int width{80};   // longest line, at least 40; long names are shortened in the middle, numbers never
    bool color{};    // ANSI colours, which only repeat what words say
    bool verbose{};  // every case in every table, warm-up facts, intervals, all facts of the machine
};

// Returns the text unchanged if the style has no colour.
[[nodiscard]] std::string painted(const std::string& text, Tone tone, const TerminalStyle& style);
[[nodiscard]] std::string heading(const std::string& text, const TerminalStyle& style);

[[nodiscard]] int usable_width(const TerminalStyle& style);  // characters in a line: at least 40

// Returns the text wrapped to the style's width. The first line starts with `mark`, further lines with as many blanks
// as `mark` is wide.
[[nodiscard]] std::string paragraph(std::string_view text, const std::string& mark, const TerminalStyle& style,
                                    Tone tone = Tone::plain);

}  // namespace memsweep::reporters
