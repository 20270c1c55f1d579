#include <algorithm>

#include <fmt/format.h>

#include "reporters/fleet_formats.hpp"
#include "reporters/markdown_table.hpp"
#include "reporters/markdown_text.hpp"

namespace memsweep::reporters {

std::string to_markdown(const FleetReport& report)
{
    constexpr std::size_t most_rows = 50;
    const Headline line = headline(report);
    std::string out = fmt::format("### {} {}\n\n{}\n", markdown_sign(line.tone), markdown_text(line.text),
                                  markdown_text(span_text(*report.fleet)));
    std::string items;
    for (const measure::Finding& finding : measure::fleet_findings(*report.fleet, report.judgement)) {
        items += fmt::format("- {}\n", markdown_text(finding.text));
    }
    out += items.empty() ? items : "\n" + items;
    if (Table bad = bad_hosts_table(report); !bad.rows.empty()) {
        bad.rows.resize(std::min(bad.rows.size(), most_rows));
        out += "\n" + markdown_table(bad);
    }
    for (const Table& matrix : matrix_tables(*report.fleet)) {
        if (matrix.rows.size() <= most_rows) {
            out += fmt::format("\n**{}**\n\n{}", markdown_text(matrix.title), markdown_table(matrix));
        }
    }
    return out + fmt::format("\n<details><summary>Over the hosts</summary>\n\n{}\n</details>\n",
                             markdown_table(spreads_table(report, false)));
}

}  // namespace memsweep::reporters
