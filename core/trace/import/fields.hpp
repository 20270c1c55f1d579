// Numbers and words in the lines of logs. Nothing here allocates.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace memsweep::trace {

[[nodiscard]] inline std::optional<std::uint64_t> number(std::string_view text, int base = 10)
{
    std::uint64_t value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return problem == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

// "0x7f14", and "(nil)", as printf writes a pointer; digits without 0x are hexadecimal too.
[[nodiscard]] inline std::optional<std::uint64_t> pointer(std::string_view text)
{
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
    }
    return text == "(nil)" || text == "nil" ? std::optional<std::uint64_t>{0} : number(text, 16);
}

[[nodiscard]] inline std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

// What stands before the next separator; `rest` begins behind it.
[[nodiscard]] inline std::string_view take_until(std::string_view& rest, char separator)
{
    const std::size_t at = rest.find(separator);
    const std::string_view part = rest.substr(0, at);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    return part;
}

// The last word, taken off the end.
[[nodiscard]] inline std::string_view take_last_word(std::string_view& rest)
{
    rest = trimmed(rest);
    const std::size_t at = rest.rfind(' ');
    const std::string_view word = at == std::string_view::npos ? rest : rest.substr(at + 1);
    rest = at == std::string_view::npos ? std::string_view{} : rest.substr(0, at);
    return word;
}

}  // namespace memsweep::trace
