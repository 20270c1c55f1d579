#include "reporters/history_markdown.hpp"

#include <fmt/format.h>

#include "reporters/markdown_table.hpp"
#include "reporters/markdown_text.hpp"

namespace memsweep::reporters {
namespace {

std::string history_text(const measure::History& history)
{
    const Headline line = headline(history);
    std::string out = fmt::format("### {} {}\n\n{}\n", markdown_sign(line.tone), markdown_text(line.text),
                                  markdown_text(span_text(history)));
    std::string items;
    for (const measure::Finding& finding : history.findings) {
        items += fmt::format("- {}\n", markdown_text(finding.text));
    }
    out += items.empty() ? items : "\n" + items;
    if (const Table changes = changes_table(history); !changes.rows.empty()) {
        out += "\n" + markdown_table(changes);
    }
    return out + fmt::format("\n<details><summary>Trends</summary>\n\n{}\n</details>\n",
                             markdown_table(trends_table(history, false)));
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
