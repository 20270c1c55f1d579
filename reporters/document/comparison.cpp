#include "reporters/document/comparison.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "reporters/document/comparison_parts.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/wording/comparison_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

constexpr std::size_t max_open_cases = 4;

std::vector<Statement> findings_of(const ComparisonReport& report, const Comparison& comparison, Medium medium)
{
    std::vector<Statement> findings = statements(comparison.findings);
    if (!comparison.machines.empty()) {
        findings.insert(findings.begin(), Statement{measure::Importance::note,
                                                    fmt::format("{} against {}: {}", comparison.base.host,
                                                                comparison.candidate.host, comparison.machines)});
    }
    for (const std::string& difference : comparison.overruled) {
        findings.push_back({measure::Importance::warning, "compared by force, although " + difference});
    }
    if (!report.gate && medium != Medium::markdown && measure::outcome(comparison) == measure::Outcome::regressed) {
        findings.push_back({measure::Importance::note, "the gate is off: a regression does not set the exit code"});
    }
    return findings;
}

Table sides_table(const Comparison& comparison)
{
    const auto known = [](const std::string& text) { return text.empty() ? std::string{"unknown"} : text; };
    Table table{.title = "Before and after"};
    table.columns = {Column::key("side"), Column::text("result"), Column::text("started"), Column::text("host")};
    for (const auto& [name, side] :
         {std::pair{"base", &comparison.base}, std::pair{"candidate", &comparison.candidate}}) {
        table.rows.push_back(
            {{.text = name}, {.text = side->name}, {.text = known(side->started)}, {.text = known(side->host)}});
    }
    return table;
}

bool is_changed(const Comparison& comparison, std::size_t pair)
{
    return std::ranges::any_of(comparison.metrics, [&](const MetricComparison& metric) {
        return metric.pair == pair && measure::is_change(metric.verdict);
    });
}

bool has_change(const Table& table)
{
    return std::ranges::any_of(
        table.rows, [](const auto& row) { return row.back().tone == Tone::bad || row.back().tone == Tone::good; });
}

// Memory over time and page faults, the base above the candidate.
std::vector<ChartSection> charts_of(const Comparison& comparison, const measure::CasePair& pair,
                                    const CurveDetail& detail)
{
    if (pair.base == nullptr || pair.candidate == nullptr) {
        return {};
    }
    std::vector<std::string> labels{"base: " + comparison.base.name, "candidate: " + comparison.candidate.name};
    make_distinct(labels);
    ChartSection section = memory_charts({{}, {{labels[0], pair.base}, {labels[1], pair.candidate}}}, detail);
    return section.charts.empty() ? std::vector<ChartSection>{} : std::vector{std::move(section)};
}

CurveDetail detail_of(const ComparisonReport& report)
{
    Cases cases;
    for (const Comparison& comparison : report.comparisons) {
        for (const measure::CasePair& pair : comparison.pairs) {
            std::ranges::copy_if(std::array{pair.base, pair.candidate}, std::back_inserter(cases),
                                 [](const model::CaseReport* one) { return one != nullptr; });
        }
    }
    return curve_detail(cases);
}

// The files without their folders, unless that makes them the same.
std::string title_of(const ComparisonReport& report)
{
    const auto short_name = [](const std::string& name) { return name.substr(name.rfind('/') + 1); };  // npos + 1 is 0
    const Comparison& first = report.comparisons.front();
    const std::string from = short_name(first.base.name);
    const std::string to = short_name(first.candidate.name);
    if (report.comparisons.size() > 1) {
        return fmt::format("{} results against {}", report.comparisons.size(), from);
    }
    return from == to ? fmt::format("{} against {}", first.candidate.name, first.base.name)
                      : fmt::format("{} against {}", to, from);
}

// The parts of one comparison's document.
class Part {
  public:
    Part(const ComparisonReport& report, const Comparison& comparison, Medium medium, Document& document)
        : report_{report}, comparison_{comparison}, medium_{medium}, document_{document}
    {
    }

    void add_terminal()
    {
        add_opening();
        document_.add(Paragraph{.text = side_text(comparison_.base), .mark = "base       ", .is_apart = true});
        document_.add(Paragraph{.text = side_text(comparison_.candidate), .mark = "candidate  "});
        if (!comparison_.duet_processors.empty()) {
            document_.add(Paragraph{.text = duet_line(comparison_.duet_processors), .mark = "duet       "});
        }
        add_whole_cases();
        for (CaseTable& one : case_tables(report_, comparison_)) {
            document_.add(TableBlock{.table = std::move(one.table)});
        }
        if (report_.explain) {
            document_.add(Heading{"Why"});
            document_.add(explanations());
        }
    }

    void add_markdown()
    {
        document_.add(
            Opening{.headline = headline(comparison_),
                    .findings = findings_of(report_, comparison_, medium_),
                    .about = fmt::format("{} against {}{}{}", side_text(comparison_.candidate),
                                         side_text(comparison_.base), comparison_.duet_processors.empty() ? "" : "; ",
                                         duet_line(comparison_.duet_processors))});
        for (CaseTable& one : case_tables(report_, comparison_)) {
            const std::string title = one.table.title;
            if (has_change(one.table)) {
                document_.add(Heading{title});
                document_.add(TableBlock{.table = std::move(one.table)});
            } else {  // the summary line still names it
                document_.add(folded({.table = std::move(one.table)}, title + ": nothing changed"));
            }
        }
        add_whole_cases();
        if (Items why = explanations(); report_.explain && !why.items.empty()) {
            document_.add(folded("Why", Fold::Kind::plain, std::move(why)));
        }
    }

    void add_page(const CurveDetail& detail)
    {
        add_opening();
        if (std::optional<Chart> chart = comparison_chart(comparison_)) {
            document_.add(Charts{ChartSection{{}, {std::move(*chart)}}});
        }
        document_.add(TableBlock{.table = sides_table(comparison_)});
        if (!comparison_.duet_processors.empty()) {
            document_.add(std::vector{Fact{"Duet", duet_line(comparison_.duet_processors)}});
        }
        add_whole_cases();
        add_cases(detail);
    }

  private:
    void add_opening()
    {
        if (report_.comparisons.size() > 1) {
            document_.add(Heading{comparison_.candidate.name});
        }
        document_.add(Opening{headline(comparison_), findings_of(report_, comparison_, medium_)});
    }

    [[nodiscard]] std::string title_of_case(const MetricComparison& metric) const
    {
        return case_title(comparison_, comparison_.cases[metric.pair]);
    }

    // Cases that were not compared metric by metric.
    void add_whole_cases()
    {
        Exclusions exclusions;
        for (const MetricComparison* metric : shown(report_, comparison_)) {
            if (metric->metric.empty()) {
                exclusions.push_back({.about = title_of_case(*metric),
                                      .status = std::string{model::name_of(metric->verdict)},
                                      .tone = tone_of(metric->verdict),
                                      .why = metric->why});
            }
        }
        if (!exclusions.empty()) {
            document_.add(Heading{"Cases not compared"});
            document_.add(std::move(exclusions));
        }
    }

    [[nodiscard]] Item explanation(const MetricComparison& metric, std::string text) const
    {
        Item item{.text = std::move(text)};
        for (std::string& sentence : reporters::explanation(metric, comparison_.noisy_metrics)) {
            item.below.push_back({std::move(sentence)});
        }
        return item;
    }

    [[nodiscard]] Items explanations() const
    {
        Items items;
        for (const MetricComparison* metric : shown(report_, comparison_)) {
            if (!metric->metric.empty()) {
                items.items.push_back(
                    explanation(*metric, fmt::format("{}: {}", title_of_case(*metric), metric->metric)));
                items.items.back().tone = tone_of(metric->verdict);
            }
        }
        return items;
    }

    Blocks case_blocks(CaseTable one, const CurveDetail& detail)
    {
        Blocks blocks;
        const std::size_t pair = one.pair;
        blocks.push_back({TableBlock{.table = std::move(one.table), .is_sortable = true}});
        blocks.push_back({charts_of(comparison_, comparison_.pairs[pair], detail)});
        if (report_.explain) {
            Items items;
            for (const MetricComparison* metric : shown(report_, comparison_)) {
                if (metric->pair == pair && !metric->metric.empty()) {
                    items.items.push_back(explanation(*metric, metric->metric));
                }
            }
            blocks.push_back({folded("Why", Fold::Kind::plain, std::move(items))});
        }
        return blocks;
    }

    // Those that changed first, and open as far as a reader scrolls; the others open on demand.
    void add_cases(const CurveDetail& detail)
    {
        std::vector<CaseTable> tables = case_tables(report_, comparison_);
        std::stable_partition(tables.begin(), tables.end(),
                              [&](const CaseTable& one) { return is_changed(comparison_, one.pair); });
        if (!tables.empty()) {
            document_.add(Heading{"Case by case"});
        }
        for (std::size_t i = 0; i < tables.size(); ++i) {
            const bool is_folded = i >= max_open_cases || (i > 0 && !is_changed(comparison_, tables[i].pair));
            std::string title = tables[i].table.title;
            Blocks blocks = case_blocks(std::move(tables[i]), detail);
            if (is_folded) {
                document_.add(
                    Fold{.summary = std::move(title), .blocks = std::move(blocks), .kind = Fold::Kind::section});
            } else {
                std::ranges::move(blocks, std::back_inserter(document_.blocks));
            }
        }
    }

    const ComparisonReport& report_;
    const Comparison& comparison_;
    Medium medium_;
    Document& document_;
};

}  // namespace

std::vector<const MetricComparison*> shown(const ComparisonReport& report, const Comparison& comparison)
{
    std::vector<const MetricComparison*> metrics;
    for (const MetricComparison& metric : comparison.metrics) {
        if (!report.only_changed || measure::is_change(metric.verdict)) {
            metrics.push_back(&metric);
        }
    }
    return metrics;
}

std::string side_text(const measure::Side& side)
{
    std::string facts = side.started;
    if (!side.host.empty()) {
        facts += (facts.empty() ? "" : ", ") + side.host;
    }
    return facts.empty() ? side.name : fmt::format("{} ({})", side.name, facts);
}

Document document(const ComparisonReport& report, const Audience& audience)
{
    Document document;
    const CurveDetail detail = audience.medium == Medium::page ? detail_of(report) : CurveDetail{};
    for (const Comparison& comparison : report.comparisons) {
        Part part{report, comparison, audience.medium, document};
        switch (audience.medium) {
        case Medium::terminal:
            part.add_terminal();
            break;
        case Medium::markdown:
            part.add_markdown();
            break;
        case Medium::page:
            part.add_page(detail);
            break;
        }
    }
    if (audience.medium == Medium::page) {
        const Comparison& first = report.comparisons.front();
        document.kicker = "memsweep comparison";
        document.title = title_of(report);
        document.description = report.description;
        if (document.description.empty() && !first.cases.empty()) {
            document.description = first.cases.front().scenario;
        }
    }
    return document;
}

}  // namespace memsweep::reporters
