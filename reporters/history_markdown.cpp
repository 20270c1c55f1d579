#include "reporters/history_markdown.hpp"

#include <fmt/format.h>

#include "reporters/markdown_text.hpp"

namespace memsweep::reporters {
namespace {

std::string sign_of(Tone tone)
{
    return tone == Tone::bad ? "\u2717" : tone == Tone::good ? "\u2713" : "?";
}

std::string table_of(const Table& table)
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

std::string history_text(const measure::History& history)
{
    const Headline line = headline(history);
    std::string out = fmt::format("### {} {}\n\n{}\n", sign_of(line.tone), markdown_text(line.text),
                                  markdown_text(span_text(history)));
    std::string items;
    for (const measure::Finding& finding : history.findings) {
        items += fmt::format("- {}\n", markdown_text(finding.text));
    }
    out += items.empty() ? items : "\n" + items;
    if (const Table changes = changes_table(history); !changes.rows.empty()) {
        out += "\n" + table_of(changes);
    }
    return out + fmt::format("\n<details><summary>Trends</summary>\n\n{}\n</details>\n",
                             table_of(trends_table(history, false)));
}

}  // namespace

std::string to_markdown(const HistoryReport& report)
{
    std::string out;
    for (const measure::History& history : report.histories.histories) {
        out += (out.empty() ? "" : "\n") + history_text(history);
    }
    for (const std::string& reason : report.histories.left_out) {
        out += fmt::format("\nLeft out: {}\n", markdown_text(reason));
    }
    return out;
}

}  // namespace memsweep::reporters
