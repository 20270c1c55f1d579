#include "core/trace/symbols/unicode_names.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace memsweep::trace {

constexpr std::size_t most_in_unicode = 128;

void append_character(std::string& text, std::uint32_t character)
{
    const auto part = [&](std::uint32_t bits) { text += static_cast<char>(0x80U | (bits & 0x3FU)); };
    if (character < 0x80) {
        text += static_cast<char>(character);
    } else if (character < 0x800) {
        text += static_cast<char>(0xC0U | character >> 6U);
        part(character);
    } else if (character < 0x10000) {
        text += static_cast<char>(0xE0U | character >> 12U);
        part(character >> 6U);
        part(character);
    } else {
        text += static_cast<char>(0xF0U | character >> 18U);
        part(character >> 12U);
        part(character >> 6U);
        part(character);
    }
}

bool is_character(std::uint64_t code)
{
    return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

bool append_punycode(std::string& text, std::string_view identifier)
{
    const std::size_t bar = identifier.rfind('_');
    const std::string_view plain = bar == std::string_view::npos ? std::string_view{} : identifier.substr(0, bar);
    const std::string_view encoded = bar == std::string_view::npos ? identifier : identifier.substr(bar + 1);
    std::vector<std::uint32_t> characters{plain.begin(), plain.end()};
    std::uint64_t bias = 72;
    std::uint64_t code = 0x80;
    std::uint64_t place = 0;
    bool is_first = true;
    for (std::size_t at = 0; at < encoded.size();) {
        const std::uint64_t before = place;
        std::uint64_t weight = 1;
        for (std::uint64_t k = 36;; k += 36) {
            if (at == encoded.size() || weight > UINT32_MAX) {
                return false;
            }
            const char sign = encoded[at++];
            const bool is_letter = sign >= 'a' && sign <= 'z';
            if (!is_letter && (sign < '0' || sign > '9')) {
                return false;
            }
            const auto digit = static_cast<std::uint64_t>(is_letter ? sign - 'a' : sign - '0' + 26);
            place += digit * weight;
            const std::uint64_t threshold = k <= bias ? 1 : std::min<std::uint64_t>(k - bias, 26);
            if (digit < threshold) {
                break;
            }
            weight *= 36 - threshold;
        }
        const std::uint64_t count = characters.size() + 1;
        std::uint64_t delta = (place - before) / (std::exchange(is_first, false) ? 700 : 2);
        delta += delta / count;
        for (bias = 0; delta > 455; bias += 36) {
            delta /= 35;
        }
        bias += 36 * delta / (delta + 38);
        code += place / count;
        place %= count;
        if (!is_character(code) || count > most_in_unicode) {
            return false;
        }
        characters.insert(characters.begin() + static_cast<std::ptrdiff_t>(place), static_cast<std::uint32_t>(code));
        ++place;
    }
    for (const std::uint32_t character : characters) {
        append_character(text, character);
    }
    return !encoded.empty();
}

}  // namespace memsweep::trace
