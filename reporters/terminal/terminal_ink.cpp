#include "reporters/terminal/terminal_ink.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "reporters/text/display_text.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::array<std::string_view, 5> codes{"", "32", "33", "31", "2"};  // in the order of Tone

std::string with_code(const std::string& text, std::string_view code, const TerminalStyle& style)
{
    return !style.color || code.empty() || text.empty() ? text : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

std::string painted(const std::string& text, Tone tone, const TerminalStyle& style)
{
    return with_code(text, codes[static_cast<std::size_t>(tone)], style);
}

std::string heading(const std::string& text, const TerminalStyle& style)
{
    return with_code(text, "1", style);
}

int usable_width(const TerminalStyle& style)
{
    constexpr int narrowest = 40;
    return std::max(style.width, narrowest);
}

std::string paragraph(std::string_view text, const std::string& mark, const TerminalStyle& style, Tone tone)
{
    const int indent = display_width(mark);
    std::string out;
    for (const std::string& line : wrapped(inert_text(text), usable_width(style) - indent)) {
        out += out.empty() ? mark : std::string(static_cast<std::size_t>(indent), ' ');
        out += painted(line, tone, style) + "\n";
    }
    return out;
}

}  // namespace memsweep::reporters
