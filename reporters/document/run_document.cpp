#include "reporters/document/run_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/answer_chart.hpp"
#include "reporters/document/replay_report.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/document/run_tables.hpp"
#include "reporters/document/site_changes.hpp"
#include "reporters/document/sweep_chart.hpp"

namespace memsweep::reporters {
namespace {

// More rows than this in the tables with a row per quantity would hide the findings and push everything below out of
// sight.
constexpr std::size_t max_cases_in_detail = 24;

TableBlock table_block(std::optional<Table> table, std::string id)
{
    return {.table = table ? *std::move(table) : Table{}, .id = std::move(id), .is_sortable = true};
}

void add_overview(Document& document, const Cases& cases, const std::vector<std::string>& headline,
                  const std::string& id, bool is_told)
{
    constexpr std::size_t most_facts = 12;  // what a machine consists of is looked up, not read
    if (is_told) {
        document.add_later(Weight::reference, [=] { return table_block(overview_table(cases, headline), id); });
        return;
    }
    TableBlock overview = table_block(overview_table(cases, headline), id);
    const std::size_t rows = overview.table.rows.size();
    const bool are_facts = std::ranges::all_of(cases, [](const auto* one) { return one->metrics.empty(); });
    if (are_facts && rows > most_facts) {
        document.add(Section{.title = {},
                             .summary = fmt::format("{} of {}", plural(rows, "fact"), plural(cases.size(), "part")),
                             .blocks = {{std::move(overview)}}},
                     Weight::support);
    } else {
        document.add(std::move(overview));
    }
}

void add_scenario(Document& document, const Cases& cases, const std::vector<std::string>& headline,
                  const CurveDetail& detail, const std::string& id)
{
    const bool begins_with_lines = !are_figures(cases) && !replay_table(cases) && sweep_is_answer(cases);
    if (begins_with_lines) {
        document.add(Charts{.title = {}, .sections = [=] { return sweep_sections(cases); }});
    }
    if (!are_figures(cases)) {
        document.add(Charts{.title = {}, .sections = [=] { return answer_charts(cases, headline); }});
    }
    document.add_table(table_block(replay_table(cases), id + "replays"));
    TableBlock placements = table_block(placement_table(cases), id + "placements");
    const bool is_told = !placements.table.rows.empty();
    document.add_table(std::move(placements));
    add_overview(document, cases, headline, id + "cases", is_told);
    document.add(Charts{.title = {}, .sections = [=] {
                            return begins_with_lines ? memory_sections(cases, detail) : chart_sections(cases, detail);
                        }});
    if (!are_figures(cases)) {
        const bool are_many = cases.size() > max_cases_in_detail;
        const Weight weight = are_many ? Weight::detail : Weight::support;
        if (are_many) {
            document.add(Omission{fmt::format("Curves, points and phases of {} cases", cases.size())}, Weight::brief);
        }
        document.add(Curves{cases}, weight);
        document.add_later(weight, [=] { return table_block(points_table(cases), id + "points"); });
        document.add_later(weight, [=] { return table_block(phases_table(cases), id + "phases"); });
        document.add_later(Weight::detail, [=] { return table_block(call_times_table(cases), id + "calls"); });
    }
    document.add_later(Weight::detail, [=] { return table_block(metrics_table(cases), id + "metrics"); });
}

void add_matrices(Document& document, const model::RunReport& report)
{
    const std::vector<measure::PlaceMatrix> matrices = measure::place_matrices(report.cases);
    if (!matrices.empty()) {
        document.add(Heading{"Between places"}, Weight::appendix);
    }
    for (const measure::PlaceMatrix& matrix : matrices) {
        document.add(TableBlock{.table = matrix_table(matrix), .id = "matrix-" + matrix.name});
    }
}

// With their whole reasons, of which findings are short.
void add_not_ok(Document& document, const model::RunReport& report)
{
    Exclusions exclusions;
    for (const auto& [one, alike] : folded_cases(cases_of(report))) {
        if (one->status != model::Status::ok) {
            exclusions.push_back({.about = alike == 1 ? one->id : fmt::format("{} and {} more", one->id, alike - 1),
                                  .status = std::string{model::name_of(one->status)},
                                  .tone = one->status == model::Status::skipped ? Tone::plain : Tone::bad,
                                  .why = one->reason.empty() ? "no reason was recorded" : one->reason});
        }
    }
    if (!exclusions.empty()) {
        document.add(Section{.title = "Cases that are not ok", .blocks = {{std::move(exclusions)}}}, Weight::reference);
    }
}

std::string actual_line(const model::AssertionResult& result)
{
    if (!result.actual) {
        return result.reason.empty() ? "nothing to judge" : "nothing to judge: " + result.reason;
    }
    const std::string rounded = value_text(*result.actual, result.unit);
    const std::string exact = exact_text(*result.actual, result.unit);
    return rounded == exact ? "actual " + rounded : fmt::format("actual {} ({})", rounded, exact);
}

// Those that do not hold in the open, all of them behind.
void add_assertions(Document& document, const model::RunReport& report)
{
    std::optional<Table> all = assertions_table(report);
    if (!all) {
        return;
    }
    document.add(Heading{claims_heading(report)});
    const auto held =
        std::ranges::count(report.assertions, model::AssertionOutcome::passed, &model::AssertionResult::outcome);
    Items items{{{fmt::format("{} of {} hold", held, report.assertions.size())}}};
    for (const model::AssertionResult& result : report.assertions) {
        if (result.outcome == model::AssertionOutcome::passed) {
            continue;
        }
        const Cell outcome = verdict_cell(result);
        Item item{.text = fmt::format("{}: {}", outcome.text, result.expression), .tone = outcome.tone};
        if (result.outcome == model::AssertionOutcome::not_evaluated) {
            item.below.push_back({result.reason});
        } else {
            item.below.push_back({result.case_id.empty() ? "over several cases" : "in " + result.case_id});
            item.below.push_back({actual_line(result)});
        }
        items.items.push_back(std::move(item));
    }
    document.add(std::move(items));
    const std::string summary = all->title;
    document.add(Section{.title = {}, .summary = summary, .blocks = {{table_block(std::move(all), "assertions")}}},
                 Weight::reference);
}

void add_machine(Document& document, const model::RunReport& report)
{
    Section measured_on{.title = "Measured on", .blocks = {}};
    const model::Calibration& calibration = report.calibration;
    const auto add_line = [&](const char* what, const std::string& line) {
        if (!line.empty()) {
            measured_on.blocks.push_back({Paragraph{.text = what + line, .mark = "  "}});
        }
    };
    add_line("", machine_line(report.machine));
    add_line("duet: ", duet_line(report.run.duet_processors));
    add_line("harness: ", harness_line(calibration));
    add_line("streaming stores: ", streaming_line(calibration));
    document.add(std::move(measured_on), Weight::brief);
    document.add(Section{.title = "Run", .blocks = {{Facts{run_facts(report)}}}}, Weight::reference);
    document.add(Section{.title = "Machine", .blocks = {{Facts{machine_facts(report.machine)}}}}, Weight::reference);
}

}  // namespace

Document document(const model::RunReport& report)
{
    const model::RunInfo& run = report.run;
    Document document{.kicker = fmt::format("memsweep result, {}", run.started),
                      .title = run.scenario_name,
                      .description = run.scenario_description,
                      .is_summary = true};
    document.add(run_opening(report));
    const CurveDetail detail = curve_detail(cases_of(report));
    std::size_t number = 0;
    for (const ScenarioCases& group : cases_by_scenario(report)) {
        document.add(Heading{.text = "Scenario " + group.scenario,
                             .about = group.scenario == run.scenario_name ? run.scenario_description : ""});
        add_scenario(document, group.cases, report.run.headline, detail, fmt::format("scenario-{}-", ++number));
    }
    add_matrices(document, report);
    add_sites(document, report.sites);
    add_assertions(document, report);
    add_not_ok(document, report);
    if (!report.warnings.empty()) {
        document.add(Section{.title = "Warnings",
                             .summary = fmt::format("Warnings ({})", report.warnings.size()),
                             .blocks = {{warning_groups(report)}}},
                     Weight::support);
    }
    add_machine(document, report);
    return document;
}

}  // namespace memsweep::reporters
