#include "core/base/printable.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace memsweep::base {
namespace {

bool is_control(std::string_view character)
{
    const auto lead = static_cast<unsigned char>(character[0]);
    const bool c1 = character.size() == 2 && lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
    return lead < 0x20 || lead == 0x7F || c1;
}

// Marks that turn the direction of writing, and the separators of lines and paragraphs: U+061C, U+200E, U+200F,
// U+2028 to U+202E, U+2066 to U+2069.
bool steers_writing(std::string_view character)
{
    const auto is_from = [&](std::string_view lead, unsigned first, unsigned last) {
        const auto byte = static_cast<unsigned char>(character.back());
        return character.size() == lead.size() + 1 && character.starts_with(lead) && byte >= first && byte <= last;
    };
    return is_from("\xD8", 0x9C, 0x9C) || is_from("\xE2\x80", 0x8E, 0x8F) || is_from("\xE2\x80", 0xA8, 0xAE) ||
           is_from("\xE2\x81", 0xA6, 0xA9);
}

void add_escape(std::string& out, char c)
{
    switch (c) {
    case '\t':
        out += "\\t";
        break;
    case '\n':
        out += "\\n";
        break;
    case '\r':
        out += "\\r";
        break;
    default:
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
}

}  // namespace

// Table 3-7 of the Unicode standard.
std::size_t utf8_length(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto continues = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned lead = byte(0);
    if (lead < 0x80) {
        return 1;
    }
    if (lead >= 0xC2 && lead <= 0xDF) {
        return continues(1) ? 2 : 0;
    }
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = lead == 0xED ? 0x9F : 0xBF;
        return continues(1, low, high) && continues(2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
        return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
    }
    return 0;
}

std::string printable(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
        if (length > 0 && !is_control(character) && !steers_writing(character)) {
            out += character;
        } else {
            for (const char c : character) {
                add_escape(out, c);
            }
        }
        text.remove_prefix(character.size());
    }
    return out;
}

}  // namespace memsweep::base
