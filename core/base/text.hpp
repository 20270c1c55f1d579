// Splits text, reads numbers, and finds the known word most similar to a mistyped one.
//
// Memory   only suggestion() and nearest() allocate.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace memsweep::base {

// Returns the text without the spaces, tabs, \r and \n at its beginning and end.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept
{
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? std::string_view{}
                                           : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Returns the text before the next separator, and removes the text and the separator from `rest`. If there is no
// separator, returns all of `rest`, and `rest` becomes empty.
[[nodiscard]] constexpr std::string_view take_until(std::string_view& rest, char separator) noexcept
{
    const std::size_t at = rest.find(separator);
    const std::string_view part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    return part;
}

// Returns the number if the whole text is a number; nullopt if it is not, or if the number is too large for 64 bits.
[[nodiscard]] inline std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10) noexcept
{
    std::uint64_t value{};
    const char* const end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value, base);
    return problem == std::errc{} && stop == end ? std::optional{value} : std::nullopt;
}

// Returns the known word most similar to a mistyped one, for "did you mean ...?"; empty if no known word is similar
// enough.
// Sources  optimal string alignment distance (Levenshtein, with swapped neighbours as one error). A word is similar
//          enough if at most one letter differs, or at most a third of the mistyped word's letters, whichever is more.
//          A mistyped word of more than 64 letters is not looked up.
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// Returns "; did you mean \"repetitions\"?". If no word is similar enough, returns "; known: a, b, c", or an empty text
// if that list is too long to read.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace memsweep::base
