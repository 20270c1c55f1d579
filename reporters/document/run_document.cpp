#include "reporters/document/run_document.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/replay_report.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/document/run_tables.hpp"

namespace memsweep::reporters {
namespace {

// More rows than this in the tables with a row per quantity would hide the findings of a terminal, and push everything
// below out of sight of a page, where such tables scroll or open on demand.
constexpr std::size_t max_unfolded_cases = 24;

// The parts of one run's document, in its medium.
class Run {
  public:
    Run(const model::RunReport& report, const Audience& audience) : report_{report}, audience_{audience} {}

    Document terminal()
    {
        document_.add(run_opening(report_));
        for (const ScenarioCases& group : cases_by_scenario(report_)) {
            document_.add(Heading{"Scenario " + group.scenario});
            if (group.scenario == report_.run.scenario_name) {
                document_.add(Paragraph{.text = report_.run.scenario_description, .mark = "  "});
            }
            add_terminal_tables(group);
        }
        add_matrices();
        add_broken_assertions();
        add_warnings();
        add_machine();
        return std::move(document_);
    }

    Document markdown()
    {
        const std::string& description = report_.run.scenario_description;
        document_.is_summary = true;
        Opening opening = run_opening(report_);
        opening.about =
            fmt::format("Scenario {}{}{}", report_.run.scenario_name, description.empty() ? "" : ": ", description);
        document_.add(std::move(opening));
        add_assertions_and_broken_ones();
        add_folded(not_ok_table());
        for (const ScenarioCases& group : cases_by_scenario(report_)) {
            document_.add(Heading{group.scenario});
            if (auto placements = placement_table(group.cases)) {
                document_.add(TableBlock{.table = *std::move(placements)});
                add_folded(overview_table(group.cases, report_.run.headline));
            } else {
                document_.add(TableBlock{.table = overview_table(group.cases, report_.run.headline)});
            }
            add_folded(points_table(group.cases));
            add_folded(phases_table(group.cases));
        }
        if (!report_.warnings.empty()) {
            document_.add(folded(fmt::format("Warnings ({})", report_.warnings.size()), Fold::Kind::section,
                                 warning_groups(report_)));
        }
        document_.add(folded("Run", Fold::Kind::section, run_facts(report_)));
        document_.add(folded("Machine", Fold::Kind::section, machine_facts(report_.machine)));
        return std::move(document_);
    }

    Document page()
    {
        document_.kicker = fmt::format("memsweep result, {}", report_.run.started);
        document_.title = report_.run.scenario_name;
        document_.description = report_.run.scenario_description;
        document_.add(run_opening(report_));
        const CurveDetail detail = curve_detail(cases_of(report_));
        std::size_t number = 0;
        for (const ScenarioCases& group : cases_by_scenario(report_)) {
            add_page_scenario(group, detail, fmt::format("scenario-{}-", ++number));
        }
        add_matrices();
        add_not_ok(cases_of(report_));
        if (auto assertions = assertions_table(report_)) {
            document_.add(Heading{claims_heading(report_)});
            document_.add(TableBlock{.table = *std::move(assertions), .id = "assertions"});
        }
        add_warnings();
        document_.add(Heading{"Run"});
        document_.add(run_facts(report_));
        document_.add(Heading{"Machine"});
        document_.add(machine_facts(report_.machine));
        return std::move(document_);
    }

  private:
    void add_table(std::optional<Table> table)
    {
        if (table) {
            document_.add(TableBlock{.table = *std::move(table)});
        }
    }

    void add_folded(std::optional<Table> table)
    {
        if (table) {
            document_.add(folded({.table = *std::move(table)}));
        }
    }

    void add_terminal_tables(const ScenarioCases& group)
    {
        add_table(replay_table(group.cases));
        std::optional<Table> placements = placement_table(group.cases);
        const bool is_told = placements.has_value();
        add_table(std::move(placements));
        if (!is_told || audience_.verbose) {
            add_table(overview_table(group.cases, report_.run.headline));
        }
        if (audience_.verbose) {
            add_not_ok(group.cases);
        }
        add_details(group.cases);
    }

    void add_details(const Cases& cases)
    {
        if (are_figures(cases)) {
            add_table(audience_.verbose ? std::optional{metrics_table(cases)} : std::nullopt);
            return;
        }
        if (cases.size() > max_unfolded_cases && !audience_.verbose) {
            document_.add(
                Paragraph{.text = fmt::format(
                              "Curves, points and phases of {} cases are not shown here; -v shows them.", cases.size()),
                          .is_apart = true});
            return;
        }
        document_.add(Curves{cases});
        add_table(points_table(cases));
        add_table(phases_table(cases));
        if (audience_.verbose) {
            add_table(call_times_table(cases));
            add_table(metrics_table(cases));
        }
    }

    void add_page_scenario(const ScenarioCases& group, const CurveDetail& detail, const std::string& id)
    {
        const bool fold = group.cases.size() > max_unfolded_cases;
        const auto add_sortable = [&](Table table, std::string_view what) {
            document_.add(TableBlock{
                .table = std::move(table), .id = fmt::format("{}{}", id, what), .is_tall = fold, .is_sortable = true});
        };
        const auto add_data = [&](std::optional<Table> table, std::string_view what) {
            if (table) {
                document_.add(
                    folded({.table = *std::move(table), .id = fmt::format("{}{}", id, what), .is_sortable = true}));
            }
        };
        document_.add(Heading{group.scenario == report_.run.scenario_name ? "Results" : group.scenario});
        if (auto replays = replay_table(group.cases)) {
            add_sortable(*std::move(replays), "replays");
        }
        if (auto placements = placement_table(group.cases)) {
            add_sortable(*std::move(placements), "placements");
        }
        constexpr std::size_t most_facts = 12;  // what a machine consists of is looked up, not read
        Table overview = overview_table(group.cases, report_.run.headline);
        const bool are_facts = std::ranges::all_of(group.cases, [](const auto* one) { return one->metrics.empty(); });
        if (are_facts && overview.rows.size() > most_facts) {
            const std::string summary =
                fmt::format("{} of {}", plural(overview.rows.size(), "fact"), plural(group.cases.size(), "part"));
            document_.add(folded({.table = std::move(overview), .id = id + "cases", .is_sortable = true}, summary));
        } else {
            add_sortable(std::move(overview), "cases");
        }
        document_.add(chart_sections(group.cases, detail));
        for (auto& [table, what] :
             {std::pair{points_table(group.cases), "points"}, std::pair{phases_table(group.cases), "phases"}}) {
            if (fold) {
                add_data(table, what);
            } else if (table) {
                document_.add(TableBlock{.table = *table, .id = id + what});
            }
        }
        add_data(call_times_table(group.cases), "calls");
        add_data(metrics_table(group.cases), "metrics");
    }

    void add_matrices()
    {
        const std::vector<measure::PlaceMatrix> matrices = measure::place_matrices(report_.cases);
        if (audience_.medium == Medium::page && !matrices.empty()) {
            document_.add(Heading{"Between places"});
        }
        for (const measure::PlaceMatrix& matrix : matrices) {
            document_.add(TableBlock{.table = matrix_table(matrix), .id = "matrix-" + matrix.name});
        }
    }

    // With their whole reasons, of which findings are short.
    void add_not_ok(const Cases& cases)
    {
        const bool in_terminal = audience_.medium == Medium::terminal;
        Exclusions exclusions;
        for (const auto& [one, alike] : folded_cases(cases)) {
            if (one->status != model::Status::ok) {
                const Tone skipped = in_terminal ? Tone::plain : Tone::caution;
                exclusions.push_back(
                    {.about = alike == 1 ? one->id : fmt::format("{} and {} more", one->id, alike - 1),
                     .status = std::string{model::name_of(one->status)},
                     .tone = one->status == model::Status::skipped ? skipped : Tone::bad,
                     .why = in_terminal && one->reason.empty() ? "no reason was recorded" : one->reason});
            }
        }
        if (!exclusions.empty()) {
            document_.add(Heading{"Cases that are not ok"});
            document_.add(std::move(exclusions));
        }
    }

    [[nodiscard]] std::optional<Table> not_ok_table() const
    {
        Table table{.title = "Cases that are not ok",
                    .columns = {Column::text("case"), Column::text("status"), Column::text("reason")}};
        for (const model::CaseReport& one : report_.cases) {
            if (one.status != model::Status::ok) {
                const Tone tone = one.status == model::Status::skipped ? Tone::plain : Tone::bad;
                table.rows.push_back({{.text = one.id},
                                      {.text = std::string{model::name_of(one.status)}, .tone = tone},
                                      {.text = one.reason.empty() ? "no reason was recorded" : one.reason}});
            }
        }
        return table.rows.empty() ? std::nullopt : std::optional{std::move(table)};
    }

    [[nodiscard]] std::size_t assertions_held() const
    {
        return static_cast<std::size_t>(
            std::ranges::count(report_.assertions, model::AssertionOutcome::passed, &model::AssertionResult::outcome));
    }

    // Those that do not hold in the open, all of them behind.
    void add_assertions_and_broken_ones()
    {
        std::optional<Table> all = assertions_table(report_);
        if (!all) {
            return;
        }
        Table broken = *all;
        broken.note.clear();
        broken.rows.resize(broken.rows.size() - assertions_held());  // the table has them last
        if (!broken.rows.empty()) {
            document_.add(Heading{claims_heading(report_) + " that do not hold"});
            document_.add(TableBlock{.table = std::move(broken)});
        }
        add_folded(std::move(all));
    }

    static std::string actual_text(const model::AssertionResult& result)
    {
        if (!result.actual) {
            return result.reason.empty() ? "nothing to judge" : "nothing to judge: " + result.reason;
        }
        const std::string rounded = value_text(*result.actual, result.unit);
        const std::string exact = exact_text(*result.actual, result.unit);
        return rounded == exact ? "actual " + rounded : fmt::format("actual {} ({})", rounded, exact);
    }

    void add_broken_assertions()
    {
        if (report_.assertions.empty()) {
            return;
        }
        document_.add(Heading{claims_heading(report_)});
        Items items{{{fmt::format("{} of {} hold", assertions_held(), report_.assertions.size())}}};
        for (const model::AssertionResult& result : report_.assertions) {
            if (result.outcome == model::AssertionOutcome::passed) {
                continue;
            }
            const Cell outcome = verdict_cell(result);
            Item item{.text = fmt::format("{}: {}", outcome.text, result.expression), .tone = outcome.tone};
            if (result.outcome == model::AssertionOutcome::not_evaluated) {
                item.below.push_back({result.reason});
            } else {
                item.below.push_back({result.case_id.empty() ? "over several cases" : "in " + result.case_id});
                item.below.push_back({actual_text(result)});
            }
            items.items.push_back(std::move(item));
        }
        document_.add(std::move(items));
    }

    void add_warnings()
    {
        if (!report_.warnings.empty()) {
            document_.add(Heading{"Warnings"});
            document_.add(warning_groups(report_));
        }
    }

    void add_machine()
    {
        document_.add(Heading{"Measured on"});
        if (audience_.verbose) {
            document_.add(machine_facts(report_.machine));
            document_.add(Heading{"Run"});
            document_.add(run_facts(report_));
            return;
        }
        document_.add(Paragraph{.text = machine_line(report_.machine), .mark = "  "});
        if (const std::string duet = duet_line(report_.run.duet_processors); !duet.empty()) {
            document_.add(Paragraph{.text = "duet: " + duet, .mark = "  "});
        }
        if (const std::string harness = harness_line(report_.calibration); !harness.empty()) {
            document_.add(Paragraph{.text = "harness: " + harness, .mark = "  "});
        }
        if (const std::string streaming = streaming_line(report_.calibration); !streaming.empty()) {
            document_.add(Paragraph{.text = "streaming stores: " + streaming, .mark = "  "});
        }
    }

    const model::RunReport& report_;
    Audience audience_;
    Document document_;
};

}  // namespace

Document document(const model::RunReport& report, const Audience& audience)
{
    Run run{report, audience};
    switch (audience.medium) {
    case Medium::terminal:
        return run.terminal();
    case Medium::markdown:
        return run.markdown();
    case Medium::page:
        return run.page();
    }
    return {};
}

}  // namespace memsweep::reporters
