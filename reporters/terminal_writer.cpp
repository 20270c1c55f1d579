#include "reporters/terminal_writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/measure/findings.hpp"
#include "reporters/display_text.hpp"
#include "reporters/figure_tables.hpp"
#include "reporters/headline.hpp"
#include "reporters/placement_table.hpp"
#include "reporters/replay_report.hpp"
#include "reporters/report_tables.hpp"
#include "reporters/run_facts.hpp"
#include "reporters/terminal_curves.hpp"
#include "reporters/terminal_ink.hpp"
#include "reporters/terminal_table.hpp"
#include "reporters/utf8.hpp"
#include "reporters/value_text.hpp"
#include "reporters/warning_groups.hpp"

namespace memsweep::reporters {
namespace {

// More rows than this in the tables with a row per quantity would hide the findings; `verbose` shows them all the same.
constexpr std::size_t most_detailed_cases = 24;
constexpr std::size_t most_like_warnings = 2;

std::string opening(const model::RunReport& report, const TerminalStyle& style)
{
    const Headline line = headline(report);
    std::string out = paragraph(line.text, "", style, line.tone);
    for (const measure::Finding& finding : measure::findings(report)) {
        out += paragraph(finding.text, "  * ", style, tone_of(finding.importance));
    }
    return out;
}

// Every one; the findings name only the first of several with the same reason.
std::string not_measured(const Cases& cases, const TerminalStyle& style)
{
    std::string out;
    for (const model::CaseReport* report : cases) {
        if (report->status != model::Status::ok) {
            const Tone tone = report->status == model::Status::skipped ? Tone::plain : Tone::bad;
            const std::string reason = report->reason.empty() ? "no reason was recorded" : report->reason;
            out += paragraph(fmt::format("{}: {}: {}", report->id, model::name_of(report->status), reason), "  ", style,
                             tone);
        }
    }
    return out.empty() ? out : "\n" + heading("Cases that are not ok", style) + "\n" + out;
}

std::string optional_table(const std::optional<Table>& table, const TerminalStyle& style)
{
    return table ? "\n" + table_text(*table, style) : std::string{};
}

std::string details(const ScenarioCases& group, const TerminalStyle& style)
{
    if (are_figures(group.cases)) {
        return style.verbose ? optional_table(metrics_table(group.cases), style) : std::string{};
    }
    if (group.cases.size() > most_detailed_cases && !style.verbose) {
        const std::string note =
            fmt::format("Curves, points and phases of {} cases are not shown here; -v shows them.", group.cases.size());
        return "\n" + paragraph(note, "", style);
    }
    const std::string curves = curves_text(group.cases, style);
    std::string out = (curves.empty() ? "" : "\n" + curves) + optional_table(points_table(group.cases), style) +
                      optional_table(phases_table(group.cases), style);
    return style.verbose ? out + optional_table(call_times_table(group.cases), style) +
                               optional_table(metrics_table(group.cases), style)
                         : out;
}

std::string scenario_section(const ScenarioCases& group, const model::RunInfo& run, const TerminalStyle& style)
{
    std::string out =
        "\n" + heading(elided("Scenario " + inert_text(group.scenario), usable_width(style)), style) + "\n";
    out += group.scenario == run.scenario_name ? paragraph(run.scenario_description, "  ", style) : std::string{};
    out += optional_table(replay_table(group.cases), style);
    for (const std::string& sentence : replay_advice(group.cases)) {
        out += paragraph(sentence, "  * ", style);
    }
    const std::optional<Table> placements = placement_table(group.cases);
    out += optional_table(placements, style);
    out += placements && !style.verbose ? "" : "\n" + table_text(overview_table(group.cases), style);
    out += style.verbose ? not_measured(group.cases, style) : std::string{};
    return out + details(group, style);
}

std::string matrices_section(const model::RunReport& report, const TerminalStyle& style)
{
    std::string out;
    for (const measure::PlaceMatrix& matrix : measure::place_matrices(report.cases)) {
        out += "\n" + table_text(matrix_table(matrix), style);
    }
    return out;
}

std::string actual_text(const model::AssertionResult& result)
{
    if (!result.actual) {
        return result.reason.empty() ? "nothing to judge" : "nothing to judge: " + result.reason;
    }
    const std::string rounded = value_text(*result.actual, result.unit);
    const std::string exact = exact_text(*result.actual, result.unit);
    return rounded == exact ? "actual " + rounded : fmt::format("actual {} ({})", rounded, exact);
}

std::string assertion_section(const model::RunReport& report, const TerminalStyle& style)
{
    const auto held =
        std::ranges::count(report.assertions, model::AssertionOutcome::passed, &model::AssertionResult::outcome);
    std::string out = "\n" + heading("Assertions", style) + "\n";
    out += paragraph(fmt::format("{} of {} hold", held, report.assertions.size()), "  ", style);
    for (const model::AssertionResult& result : report.assertions) {
        if (result.outcome != model::AssertionOutcome::passed) {
            const Cell outcome = verdict_cell(result);
            out += paragraph(fmt::format("{}: {}", outcome.text, result.expression), "  ", style, outcome.tone);
            if (result.outcome == model::AssertionOutcome::not_evaluated) {
                out += paragraph(result.reason, "    ", style);
                continue;
            }
            out += paragraph(result.case_id.empty() ? "over several cases" : "in " + result.case_id, "    ", style);
            out += paragraph(actual_text(result), "    ", style);
        }
    }
    return report.assertions.empty() ? std::string{} : out;
}

std::string warning_group_text(const WarningGroup& group, const TerminalStyle& style)
{
    const std::size_t shown =
        style.verbose ? group.warnings.size() : std::min(group.warnings.size(), most_like_warnings);
    std::string out;
    for (std::size_t i = 0; i < shown; ++i) {
        out += paragraph(fmt::format("{}: {}", group.code, group.warnings[i]->message), "  ", style, Tone::caution);
    }
    if (const std::size_t more = group.warnings.size() - shown; more > 0) {
        out +=
            paragraph(fmt::format("{}: {} more like it; -v shows them", group.code, more), "  ", style, Tone::caution);
    }
    return out + (group.hint.empty() ? std::string{} : paragraph(group.hint, "    ", style));
}

std::string warning_section(const model::RunReport& report, const TerminalStyle& style)
{
    std::string out = "\n" + heading("Warnings", style) + "\n";
    for (const WarningGroup& group : warning_groups(report)) {
        out += warning_group_text(group, style);
    }
    return report.warnings.empty() ? std::string{} : out;
}

std::string facts_text(const std::vector<Fact>& facts, const TerminalStyle& style)
{
    std::string out;
    for (const Fact& fact : facts) {
        out += paragraph(fmt::format("{}: {}", fact.name, fact.text), "  ", style);
    }
    return out;
}

std::string closing(const model::RunReport& report, const TerminalStyle& style)
{
    std::string out = "\n" + heading("Measured on", style) + "\n";
    if (style.verbose) {
        return out + facts_text(machine_facts(report.machine), style) + "\n" + heading("Run", style) + "\n" +
               facts_text(run_facts(report), style);
    }
    out += paragraph(machine_line(report.machine), "  ", style);
    const std::string harness = harness_line(report.calibration);
    return harness.empty() ? out : out + paragraph("harness: " + harness, "  ", style);
}

}  // namespace

std::string to_terminal(const model::RunReport& report, const TerminalStyle& style)
{
    std::string out = opening(report, style);
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        out += scenario_section(group, report.run, style);
    }
    out += matrices_section(report, style);
    return out + assertion_section(report, style) + warning_section(report, style) + closing(report, style);
}

}  // namespace memsweep::reporters
