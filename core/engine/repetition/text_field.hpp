// Texts in records that two processes share.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace memsweep::engine {

// Writes as much of the text as fits into the field, with a zero at the end.
template <std::size_t size>
void write_text(std::string_view text, std::array<char, size>& into)
{
    into.fill('\0');
    text.copy(into.data(), into.size() - 1);
}

// Reads a text that write_text() wrote. If another process has filled the field without a zero at the end, the text is
// the whole field.
[[nodiscard]] inline std::string read_text(std::span<const char> field)
{
    return {field.data(), ::strnlen(field.data(), field.size())};
}

}  // namespace memsweep::engine
