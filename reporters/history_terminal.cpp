#include "reporters/history_terminal.hpp"

#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"

namespace memsweep::reporters {
namespace {

std::string history_text(const measure::History& history, const TerminalStyle& style)
{
    const Headline line = headline(history);
    std::string out = paragraph(line.text, "", style, line.tone);
    for (const measure::Finding& finding : history.findings) {
        out += paragraph(finding.text, "  * ", style, tone_of(finding.importance));
    }
    out += paragraph(span_text(history), "", style, Tone::muted);
    if (const Table changes = changes_table(history); !changes.rows.empty()) {
        out += "\n" + table_text(changes, style);
    }
    return out + "\n" + table_text(trends_table(history, style.verbose), style);
}

}  // namespace

std::string to_terminal(const HistoryReport& report, const TerminalStyle& style)
{
    std::string out;
    for (const measure::History& history : report.histories.histories) {
        out += (out.empty() ? "" : "\n") + history_text(history, style);
    }
    for (const std::string& reason : report.histories.left_out) {
        out += paragraph("left out: " + reason, "", style, Tone::caution);
    }
    return out;
}

}  // namespace memsweep::reporters
