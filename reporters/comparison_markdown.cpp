#include "reporters/comparison_markdown.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/explain.hpp"
#include "reporters/comparison_tables.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether the character at `at` may mean something to Markdown. An underscore inside a word does not, nor does a colon
// that begins no address.
bool is_active(const std::string& text, std::size_t at)
{
    const char next = at + 1 < text.size() ? text[at + 1] : ' ';
    switch (text[at]) {
    case '_':
        return at == 0 || !is_word(text[at - 1]) || !is_word(next);
    case ':':
        return next == '/';
    case '-':
    case '+':
        return at == 0;
    default:
        return std::string_view{"\\`*[]<>#|~&@$"}.find(text[at]) != std::string_view::npos;
    }
}

// What could be active as an entity. Mentions and issue numbers are looked for after entities were read, so those two
// signs also get an invisible blank behind them.
std::string inert_markdown(std::string_view original)
{
    const std::string text = inert_text(original);
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        out += is_active(text, at) ? fmt::format("&#{};", static_cast<unsigned char>(text[at])) : text.substr(at, 1);
        out += text[at] == '@' || text[at] == '#' ? "&#8203;" : "";
    }
    return out;
}

std::string_view sign_of(Tone tone)
{
    switch (tone) {
    case Tone::bad:
        return "\u2717";
    case Tone::good:
        return "\u2713";
    default:
        return "?";
    }
}

std::string line_of(const std::vector<std::string>& cells)
{
    std::string line = "|";
    for (const std::string& cell : cells) {
        line += fmt::format(" {} |", cell);
    }
    return line + "\n";
}

std::string table_of(const Table& table)
{
    std::vector<std::string> titles;
    std::vector<std::string> rules;
    for (const Column& column : table.columns) {
        titles.push_back(inert_markdown(column.title));
        rules.emplace_back(column.is_number ? "---:" : "---");
    }
    std::string out = line_of(titles) + line_of(rules);
    for (const auto& row : table.rows) {
        std::vector<std::string> cells;
        for (const Cell& cell : row) {
            const std::string text = inert_markdown(cell.text);
            const bool loud = cell.tone == Tone::bad || cell.tone == Tone::good;
            cells.push_back(loud ? fmt::format("**{}**", text) : text);
        }
        out += line_of(cells);
    }
    return out;
}

bool has_change(const Table& table)
{
    return std::ranges::any_of(
        table.rows, [](const auto& row) { return row.back().tone == Tone::bad || row.back().tone == Tone::good; });
}

// A case in which nothing changed is folded; the summary line still names it.
std::string section_of(const Table& table)
{
    const std::string title = inert_markdown(table.title);
    return has_change(table) ? fmt::format("\n#### {}\n\n{}", title, table_of(table))
                             : fmt::format("\n<details><summary>{}: nothing changed</summary>\n\n{}\n</details>\n",
                                           title, table_of(table));
}

std::string whole_cases(const ComparisonReport& report, const Comparison& comparison)
{
    std::string out;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            out += fmt::format("- {}: {}: {}\n", inert_markdown(case_title(comparison, comparison.cases[metric->pair])),
                               model::name_of(metric->verdict), inert_markdown(metric->why));
        }
    }
    return out.empty() ? out : "\n#### Cases not compared\n\n" + out;
}

std::string explanations(const ComparisonReport& report, const Comparison& comparison)
{
    std::string out;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (!metric->metric.empty()) {
            out += fmt::format("- {}: {}\n", inert_markdown(case_title(comparison, comparison.cases[metric->pair])),
                               inert_markdown(metric->metric));
            for (const std::string& sentence : measure::explanation(*metric, comparison.noisy_metrics)) {
                out += fmt::format("  - {}\n", inert_markdown(sentence));
            }
        }
    }
    return out.empty() ? out : fmt::format("\n<details><summary>Why</summary>\n\n{}\n</details>\n", out);
}

std::string markdown_of(const ComparisonReport& report, const Comparison& comparison)
{
    const Headline line = headline(comparison);
    std::string out = fmt::format("### {} {}\n\n", sign_of(line.tone), inert_markdown(line.text));
    out += fmt::format("{} against {}\n", inert_markdown(side_text(comparison.candidate)),
                       inert_markdown(side_text(comparison.base)));
    std::string items;
    for (const measure::Finding& finding : comparison.findings) {
        items += fmt::format("- {}\n", inert_markdown(finding.text));
    }
    for (const std::string& difference : comparison.overruled) {
        items += fmt::format("- compared by force, although {}\n", inert_markdown(difference));
    }
    out += items.empty() ? items : "\n" + items;
    for (const auto& [pair, table] : case_tables(report, comparison)) {
        out += section_of(table);
    }
    return out + whole_cases(report, comparison) + (report.explain ? explanations(report, comparison) : std::string{});
}

}  // namespace

std::string to_markdown(const ComparisonReport& report)
{
    std::string out;
    for (const Comparison& comparison : report.comparisons) {
        out += (out.empty() ? "" : "\n") + markdown_of(report, comparison);
    }
    return out;
}

}  // namespace memsweep::reporters
