// Where a value stands in a scenario file.
//
// Units    lines and columns from 1; a column is a character (UTF-8 sequence), as editors count.
// Ownership  the file's name belongs to the loader and outlives every place in it.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace memsweep::scenarios {

struct Place {
    std::uint32_t file{};  // in the order the files were opened; sorts messages
    std::uint32_t line{};  // 0: not in a file; `name` is a command-line flag then
    std::uint32_t column{};
    std::string_view name;
    friend auto operator<=>(const Place&, const Place&) = default;
};

[[nodiscard]] std::string to_text(const Place& place);  // "file:line:col"

}  // namespace memsweep::scenarios
