#include "scenarios/reader/foreign_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "scenarios/reader/limits.hpp"

namespace memsweep::scenarios {
namespace {

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
        const std::size_t length = base::utf8_length(text.substr(at));
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

}  // namespace memsweep::scenarios
