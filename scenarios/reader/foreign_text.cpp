#include "scenarios/reader/foreign_text.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "core/base/text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

// Length of the UTF-8 sequence at the front, 0 when there is none. Table 3-7 of the Unicode standard.
std::size_t sequence_length(std::string_view rest)
{
    const auto byte = [&](std::size_t i) { return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U; };
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

bool is_control(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

}  // namespace

std::optional<BadByte> find_bad_byte(std::string_view text)
{
    for (std::size_t at = 0; at < text.size();) {
        if (is_control(text[at])) {
            return BadByte{at, "a control character"};
        }
        const std::size_t length = sequence_length(text.substr(at));
        if (length == 0) {
            return BadByte{at, "not valid UTF-8"};
        }
        at += length;
    }
    return std::nullopt;
}

bool is_name(std::string_view text)
{
    const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto inner = [&](char c) { return lower(c) || (c >= '0' && c <= '9') || c == '_'; };
    return !text.empty() && text.size() <= max_name_bytes && lower(text.front()) &&
           std::all_of(text.begin(), text.end(), inner);
}

std::string in_quotes(std::string_view text)
{
    constexpr std::size_t longest = 60;
    std::size_t length = std::min(text.size(), longest);
    while (length < text.size() && length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0U) == 0x80U) {
        --length;  // never half a UTF-8 sequence
    }
    std::string out = "\"";
    for (const char c : text.substr(0, length)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += {'\\', c};
        } else if (byte < 0x20 || byte == 0x7F) {
            out += fmt::format("\\u{:04x}", byte);
        } else {
            out += c;
        }
    }
    return out + (length < text.size() ? "...\"" : "\"");
}

std::string printable_assignment(std::string_view name, std::string_view value)
{
    const auto bare = [](std::string_view text) {
        const std::string safe = in_quotes(text);
        return safe.substr(1, safe.size() - 2);
    };
    return fmt::format("{}={}", bare(name), bare(value));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known)
{
    constexpr std::size_t readable = 40;
    constexpr std::size_t affordable = 200;  // comparing words is quadratic in their length
    const std::span<const std::string_view> compared{known.data(), std::min(known.size(), affordable)};
    if (known.size() > readable && base::nearest(word, compared).empty()) {
        return {};
    }
    return base::suggestion(word, compared);
}

}  // namespace memsweep::scenarios
