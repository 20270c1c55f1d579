#include "reporters/markdown_table.hpp"

#include <fmt/format.h>

#include "reporters/markdown_text.hpp"

namespace memsweep::reporters {

std::string markdown_sign(Tone tone)
{
    return tone == Tone::bad ? "\u2717" : tone == Tone::good ? "\u2713" : "?";
}

std::string markdown_table(const Table& table)
{
    std::string titles = "|";
    std::string rules = "|";
    for (const Column& column : table.columns) {
        titles += fmt::format(" {} |", markdown_text(column.title));
        rules += column.is_number ? " ---: |" : " --- |";
    }
    std::string out = titles + "\n" + rules + "\n";
    for (const auto& row : table.rows) {
        out += '|';
        for (const Cell& cell : row) {
            const bool loud = cell.tone == Tone::bad || cell.tone == Tone::good;
            const std::string text = markdown_text(cell.text);
            out += loud ? fmt::format(" **{}** |", text) : fmt::format(" {} |", text);
        }
        out += '\n';
    }
    return out;
}

}  // namespace memsweep::reporters
