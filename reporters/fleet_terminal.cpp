#include <fmt/format.h>

#include "core/measure/fleet_judgement.hpp"
#include "reporters/fleet_formats.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"

namespace memsweep::reporters {

std::string to_terminal(const FleetReport& report, const TerminalStyle& style)
{
    constexpr std::size_t most_rows = 40;
    const Headline line = headline(report);
    std::string out = paragraph(line.text, "", style, line.tone);
    for (const measure::Finding& finding : measure::fleet_findings(*report.fleet, report.judgement)) {
        out += paragraph(finding.text, "  * ", style, tone_of(finding.importance));
    }
    out += paragraph(span_text(*report.fleet), "", style, Tone::muted);
    Table bad = bad_hosts_table(report);
    if (bad.rows.size() > most_rows) {
        bad.note = fmt::format("the first {} of {}", most_rows, bad.rows.size());
        bad.rows.resize(most_rows);
    }
    if (!bad.rows.empty()) {
        out += "\n" + table_text(bad, style);
    }
    for (const Table& matrix : matrix_tables(*report.fleet)) {
        if (matrix.columns.size() <= most_rows) {
            out += "\n" + table_text(matrix, style);
        }
    }
    out += "\n" + table_text(spreads_table(report, style.verbose), style);
    return out;
}

}  // namespace memsweep::reporters
