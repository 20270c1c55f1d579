#include "reporters/comparison_terminal.hpp"

#include <fmt/format.h>

#include "core/measure/explain.hpp"
#include "reporters/comparison_tables.hpp"
#include "reporters/display_text.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"
#include "reporters/utf8.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

std::string opening(const ComparisonReport& report, const Comparison& comparison, const TerminalStyle& style)
{
    const Headline line = headline(comparison);
    std::string out;
    if (report.comparisons.size() > 1) {
        out += heading(elided(inert_text(comparison.candidate.name), usable_width(style)), style) + "\n";
    }
    out += paragraph(line.text, "", style, line.tone);
    for (const measure::Finding& finding : comparison.findings) {
        out += paragraph(finding.text, "  * ", style, tone_of(finding.importance));
    }
    for (const std::string& difference : comparison.overruled) {
        out += paragraph("compared by force, although " + difference, "  * ", style, Tone::caution);
    }
    if (!report.gate && measure::outcome(comparison) == measure::Outcome::regressed) {
        out += paragraph("the gate is off: a regression does not set the exit code", "  * ", style);
    }
    return out;
}

std::string sides(const Comparison& comparison, const TerminalStyle& style)
{
    return paragraph(side_text(comparison.base), "base       ", style) +
           paragraph(side_text(comparison.candidate), "candidate  ", style);
}

// Cases that were not compared metric by metric.
std::string whole_cases(const ComparisonReport& report, const Comparison& comparison, const TerminalStyle& style)
{
    std::string out;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            out += paragraph(fmt::format("{}: {}: {}", case_title(comparison, comparison.cases[metric->pair]),
                                         model::name_of(metric->verdict), metric->why),
                             "  ", style, tone_of(metric->verdict));
        }
    }
    return out.empty() ? out : "\n" + heading("Cases not compared", style) + "\n" + out;
}

std::string explanations(const ComparisonReport& report, const Comparison& comparison, const TerminalStyle& style)
{
    std::string out = "\n" + heading("Why", style) + "\n";
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            continue;
        }
        out += paragraph(fmt::format("{}: {}", case_title(comparison, comparison.cases[metric->pair]), metric->metric),
                         "  ", style, tone_of(metric->verdict));
        for (const std::string& sentence : measure::explanation(*metric, comparison.noisy_metrics)) {
            out += paragraph(sentence, "    ", style);
        }
    }
    return out;
}

}  // namespace

std::string to_terminal(const ComparisonReport& report, const TerminalStyle& style)
{
    std::string out;
    for (const Comparison& comparison : report.comparisons) {
        out += (out.empty() ? "" : "\n") + opening(report, comparison, style) + "\n" + sides(comparison, style) +
               whole_cases(report, comparison, style);
        for (const auto& [pair, table] : case_tables(report, comparison)) {
            out += "\n" + table_text(table, style);
        }
        out += report.explain ? explanations(report, comparison, style) : std::string{};
    }
    return out;
}

}  // namespace memsweep::reporters
