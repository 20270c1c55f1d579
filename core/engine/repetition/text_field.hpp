// Texts in records that two processes share.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace memsweep::engine {

// Writes as much of a text as a record has room for, ended by a zero.
template <std::size_t size>
void write_text(std::string_view text, std::array<char, size>& into)
{
    into.fill('\0');
    text.copy(into.data(), into.size() - 1);
}

// Reads a text of write_text. A field that another process has filled need not end with a zero.
[[nodiscard]] inline std::string read_text(std::span<const char> field)
{
    return {field.data(), ::strnlen(field.data(), field.size())};
}

}  // namespace memsweep::engine
