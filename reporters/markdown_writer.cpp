#include "reporters/markdown_writer.hpp"

#include <algorithm>

#include "core/measure/findings.hpp"
#include "reporters/display_text.hpp"
#include "reporters/headline.hpp"
#include "reporters/markdown_text.hpp"
#include "reporters/placement_table.hpp"
#include "reporters/report_tables.hpp"
#include "reporters/run_facts.hpp"
#include "reporters/utf8.hpp"
#include "reporters/warning_groups.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_rows = 200;
constexpr int widest_cell = 100;
constexpr int longest_sentence = 1000;

// A sign for the eye; the words beside it say the same.
std::string_view sign(Tone tone)
{
    switch (tone) {
    case Tone::good:
        return "✓ ";
    case Tone::caution:
        return "⚠ ";
    case Tone::bad:
        return "✗ ";
    case Tone::plain:
    case Tone::muted:
        return "";
    }
    return "";
}

std::string shortened(std::string_view text, int width)
{
    return markdown_text(elided(inert_text(text), width));
}

std::string sentence(std::string_view text)
{
    return shortened(text, longest_sentence);
}

void write_row(TextSink& sink, const std::vector<Cell>& row)
{
    for (const Cell& cell : row) {
        sink.print("| {}{} ", sign(cell.tone), shortened(cell.text, widest_cell));
    }
    sink.add("|\n");
}

void write_table(TextSink& sink, const Table& table)
{
    for (const Column& column : table.columns) {
        sink.print("| {} ", shortened(column.title, widest_cell));
    }
    sink.add("|\n");
    for (const Column& column : table.columns) {
        sink.add(column.is_number ? "| ---: " : "| :--- ");
    }
    sink.add("|\n");
    const std::size_t shown = std::min(table.rows.size(), most_rows);
    std::for_each_n(table.rows.begin(), shown, [&](const auto& row) { write_row(sink, row); });
    sink.add("\n");
    if (const std::size_t more = table.rows.size() - shown; more > 0) {
        sink.print("{} more rows are not shown here; the JSON result has them.\n\n", more);
    }
    if (!table.note.empty()) {
        sink.print("{}\n\n", sentence(table.note));
    }
}

void begin_fold(TextSink& sink, std::string_view title)
{
    sink.print("<details><summary>{}</summary>\n\n", title);
}

void end_fold(TextSink& sink)
{
    sink.add("</details>\n\n");
}

void write_folded(TextSink& sink, const std::optional<Table>& table)
{
    if (table) {
        begin_fold(sink, markdown_text(table->title));
        write_table(sink, *table);
        end_fold(sink);
    }
}

void write_verdict(TextSink& sink, const model::RunReport& report)
{
    const Headline line = headline(report);
    sink.print("## {}{}\n\n", sign(line.tone), sentence(line.text));
    sink.print("Scenario {}", shortened(report.run.scenario_name, widest_cell));
    sink.print("{}\n\n",
               report.run.scenario_description.empty() ? "" : ": " + sentence(report.run.scenario_description));
    const std::vector<measure::Finding> findings = measure::findings(report);
    for (const measure::Finding& finding : findings) {
        sink.print("- {}{}\n", sign(tone_of(finding.importance)), sentence(finding.text));
    }
    sink.add(findings.empty() ? "" : "\n");
}

// Those that do not hold in the open, all of them behind.
void write_assertions(TextSink& sink, const model::RunReport& report)
{
    const std::optional<Table> all = assertions_table(report);
    if (!all) {
        return;
    }
    Table broken = *all;
    broken.note.clear();
    const auto held = static_cast<std::size_t>(
        std::ranges::count(report.assertions, model::AssertionOutcome::passed, &model::AssertionResult::outcome));
    broken.rows.resize(broken.rows.size() - held);  // the table has them last
    if (!broken.rows.empty()) {
        sink.add("### Assertions that do not hold\n\n");
        write_table(sink, broken);
    }
    write_folded(sink, all);
}

void write_scenario(TextSink& sink, const ScenarioCases& group)
{
    sink.print("### {}\n\n", shortened(group.scenario, widest_cell));
    if (const auto placements = placement_table(group.cases)) {
        write_table(sink, *placements);
        write_folded(sink, overview_table(group.cases));
    } else {
        write_table(sink, overview_table(group.cases));
    }
    write_folded(sink, points_table(group.cases));
    write_folded(sink, phases_table(group.cases));
}

// Every one; the findings name only the first of several with the same reason.
void write_not_ok(TextSink& sink, const model::RunReport& report)
{
    Table table{.title = "Cases that are not ok",
                .columns = {{.title = "case"}, {.title = "status"}, {.title = "reason"}}};
    for (const model::CaseReport& one : report.cases) {
        if (one.status != model::Status::ok) {
            const Tone tone = one.status == model::Status::skipped ? Tone::plain : Tone::bad;
            table.rows.push_back({{.text = one.id},
                                  {.text = std::string{model::name_of(one.status)}, .tone = tone},
                                  {.text = one.reason.empty() ? "no reason was recorded" : one.reason}});
        }
    }
    if (!table.rows.empty()) {
        write_folded(sink, table);
    }
}

void write_warnings(TextSink& sink, const model::RunReport& report)
{
    if (report.warnings.empty()) {
        return;
    }
    begin_fold(sink, fmt::format("Warnings ({})", report.warnings.size()));
    for (const WarningGroup& group : warning_groups(report)) {
        const std::size_t more = group.warnings.size() - 1;
        sink.print("- {}: {}", sentence(group.code), sentence(group.warnings.front()->message));
        sink.print("{}{}\n", group.hint.empty() ? "" : "; " + sentence(group.hint),
                   more == 0 ? "" : fmt::format(" (and {} more like it)", more));
    }
    sink.add("\n");
    end_fold(sink);
}

void write_facts(TextSink& sink, std::string_view title, const std::vector<Fact>& facts)
{
    begin_fold(sink, title);
    sink.add("| | |\n| :--- | :--- |\n");
    for (const Fact& fact : facts) {
        sink.print("| {} | {} |\n", markdown_text(fact.name), sentence(fact.text));
    }
    sink.add("\n");
    end_fold(sink);
}

}  // namespace

void write_markdown(const model::RunReport& report, TextSink& sink)
{
    write_verdict(sink, report);
    write_assertions(sink, report);
    write_not_ok(sink, report);
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        write_scenario(sink, group);
    }
    write_warnings(sink, report);
    write_facts(sink, "Run", run_facts(report));
    write_facts(sink, "Machine", machine_facts(report.machine));
}

}  // namespace memsweep::reporters
