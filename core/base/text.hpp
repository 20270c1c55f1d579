// Words and numbers in text: cutting them off, reading them, and finding the known word nearest to one.
//
// Memory   only suggestion and nearest allocate.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memsweep::base {

// The text without the blanks at both ends: spaces, tabs and line ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept
{
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Cuts off and returns the text before the next separator; `rest` then begins behind it.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& rest, char separator) noexcept
{
    const std::size_t at = rest.find(separator);
    const std::string_view part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    return part;
}

// The number, if the whole text is one; empty for anything else, an overflow included.
[[nodiscard]] inline std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10) noexcept
{
    std::uint64_t value{};
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, base);
    return problem == std::errc{} && stop == end ? std::optional{value} : std::nullopt;
}

// "Did you mean ...?": the known word nearest to a mistyped one; empty when nothing is near enough.
// Sources  optimal string alignment (Levenshtein distance with swapped neighbours as one error); a word is near when
//          at most a third of its letters differ.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// "; did you mean \"repetitions\"?", or "; known: a, b, c" when nothing is near and the list is short enough to read.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace memsweep::base
