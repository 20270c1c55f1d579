// Reads the location table in CPython's code objects, from CPython 3.11 on. The table has the source line of each code
// unit (two bytes of bytecode).
//
// Sources  Objects/locations.md of CPython 3.11.
// Cost     some 2 ns per entry; a source line has two or three entries.
// Memory   none.
// Errors   malformed bytes give a meaningless line; nothing beyond `table` is read.
// Threads  any; async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace memsweep::trace::recorder {

namespace location_table {

// Reads the number at `at`, and moves `at` behind it. Each byte has six bits of the number, lowest bits first. Bit 6 is
// set in all bytes but the last.
[[nodiscard]] constexpr std::uint64_t take_number(std::span<const std::uint8_t> table, std::size_t& at) noexcept
{
    std::uint64_t number = 0;
    for (unsigned shift = 0; at < table.size() && (table[at] & 0x80U) == 0 && shift < 60; shift += 6) {
        const std::uint8_t byte = table[at++];
        number |= std::uint64_t{byte & 0x3FU} << shift;
        if ((byte & 0x40U) == 0) {
            break;
        }
    }
    return number;
}

}  // namespace location_table

// Returns the source line of the code unit with number `unit`. `first`: the code object's first line, which is returned
// for a unit without a line.
[[nodiscard]] constexpr std::uint32_t line_in_table(std::span<const std::uint8_t> table, std::int64_t first,
                                                    std::int64_t unit) noexcept
{
    constexpr unsigned long_form = 14;
    constexpr unsigned no_column = 13;
    constexpr unsigned one_line = 10;  // forms 10 to 12: the line is 0 to 2 lines further
    constexpr unsigned no_location = 15;
    std::int64_t line = first;
    std::int64_t behind = 0;  // number of units that the entries so far describe
    for (std::size_t at = 0; at < table.size();) {
        const std::uint8_t head = table[at++];
        const unsigned form = head >> 3U & 15U;
        if (form == long_form || form == no_column) {
            const std::uint64_t step = location_table::take_number(table, at);
            line += (step & 1U) != 0 ? -static_cast<std::int64_t>(step >> 1U) : static_cast<std::int64_t>(step >> 1U);
        } else if (form >= one_line && form < no_column) {
            line += form - one_line;
        }
        behind += (head & 7) + 1;
        if (unit < behind) {
            return static_cast<std::uint32_t>(form == no_location || line < 0 ? first : line);
        }
        while (at < table.size() && (table[at] & 0x80U) == 0) {
            ++at;
        }
    }
    return static_cast<std::uint32_t>(first);
}

}  // namespace memsweep::trace::recorder
