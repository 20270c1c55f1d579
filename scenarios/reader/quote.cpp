#include "scenarios/reader/quote.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/base/suggest.hpp"

namespace memsweep::scenarios {

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
