#include "core/base/printable.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace memsweep::base {
namespace {

// The bytes of the well-formed character that the text begins with; 0: it begins with none.
std::size_t character_length(std::string_view text)
{
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0U) != 0x80U) {
            return 0;
        }
    }
    return length;
}

bool is_control(std::string_view character)
{
    const auto lead = static_cast<unsigned char>(character[0]);
    const bool c1 = character.size() == 2 && lead == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
    return lead < 0x20 || lead == 0x7F || c1;
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

std::string printable(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
        if (length > 0 && !is_control(character)) {
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
