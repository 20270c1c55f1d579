#include "reporters/document/comparison.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/measure/recorded_comparison.hpp"
#include "reporters/document/comparison_parts.hpp"
#include "reporters/document/run_charts.hpp"
#include "reporters/document/run_document.hpp"
#include "reporters/document/site_changes.hpp"
#include "reporters/wording/comparison_words.hpp"
#include "reporters/wording/reason_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::Comparison;
using measure::MetricComparison;

// Exact counters whose change is forgiven only because the names of the two programs differ in length.
std::vector<Statement> forgiven(const Comparison& comparison)
{
    constexpr double usual_share = 0.001;  // the default threshold of an exact size, and nothing for a count
    constexpr double usual_bytes = 4096;
    std::vector<std::string> changes;
    std::uint64_t apart = 0;
    for (const MetricComparison& metric : comparison.metrics) {
        if (metric.reason.names_apart == 0 || !metric.base_median || !metric.candidate_median) {
            continue;
        }
        const double change = *metric.candidate_median - *metric.base_median;
        const double usual =
            metric.unit == model::Unit::bytes ? std::min(usual_share * std::abs(*metric.base_median), usual_bytes) : 0;
        if (std::abs(change) > usual) {
            changes.push_back(fmt::format("{} {} instead of {}", metric.metric,
                                          measure::format_value(metric.unit, *metric.candidate_median),
                                          measure::format_value(metric.unit, *metric.base_median)));
            apart = metric.reason.names_apart;
        }
    }
    if (changes.empty()) {
        return {};
    }
    return {{measure::Importance::note,
             fmt::format("{} count as the same only because the programs' names differ by {}: --strict-counters "
                         "judges them",
                         listed(changes, ", "), plural(apart, "character"))}};
}

std::vector<Statement> findings_of(const ComparisonReport& report, const Comparison& comparison)
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
    if (!report.gate && measure::outcome(comparison) == measure::ComparisonOutcome::regressed) {
        findings.push_back({measure::Importance::note, "the gate is off: a regression does not set the exit code"});
    }
    std::ranges::move(forgiven(comparison), std::back_inserter(findings));
    return findings;
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
    return {section};
}

// The detail that suits the curves of all comparisons together; found when the first of them is drawn.
using SharedDetail = std::shared_ptr<std::optional<CurveDetail>>;

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

Facts sides(const Comparison& comparison)
{
    Facts facts{.list = {{"base", side_text(comparison.base)}, {"candidate", side_text(comparison.candidate)}},
                .are_few = true};
    if (!comparison.duet_processors.empty()) {
        facts.list.push_back({"duet", duet_line(comparison.duet_processors)});
    }
    return facts;
}

std::string title_of_case(const Comparison& comparison, const MetricComparison& metric)
{
    return case_title(comparison, comparison.cases[metric.pair]);
}

// Cases that were not compared metric by metric.
void add_whole_cases(Document& document, const ComparisonReport& report, const Comparison& comparison)
{
    Exclusions exclusions;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (metric->metric.empty()) {
            exclusions.push_back({.about = title_of_case(comparison, *metric),
                                  .status = std::string{model::name_of(metric->verdict)},
                                  .tone = tone_of(metric->verdict),
                                  .why = reason_text(metric->reason)});
        }
    }
    if (!exclusions.empty()) {
        document.add(Section{.title = "Cases not compared", .blocks = {{std::move(exclusions)}}});
    }
}

Items explanations(const ComparisonReport& report, const Comparison& comparison)
{
    Items items;
    for (const MetricComparison* metric : shown(report, comparison)) {
        if (!metric->metric.empty()) {
            Item item{.text = fmt::format("{}: {}", title_of_case(comparison, *metric), metric->metric),
                      .tone = tone_of(metric->verdict)};
            for (std::string& sentence : reporters::explanation(*metric, comparison.noisy_metrics)) {
                item.below.push_back({std::move(sentence)});
            }
            items.items.push_back(std::move(item));
        }
    }
    return items;
}

// Those that changed first; of those that did not the first is an answer where there is no other.
void add_cases(Document& document, const ComparisonReport& report, const Comparison& comparison,
               const SharedDetail& detail)
{
    std::vector<CaseTable> tables = case_tables(report, comparison);
    std::ranges::stable_partition(tables, &CaseTable::is_changed);
    if (!tables.empty()) {
        document.add(Heading{"Case by case"}, Weight::appendix);
    }
    for (CaseTable& one : tables) {
        const bool is_answer = one.is_changed || &one == tables.data();
        Charts charts{.title = {}, .sections = [&report, &comparison, detail, pair = one.pair] {
                          *detail = *detail ? *detail : detail_of(report);
                          return charts_of(comparison, comparison.pairs[pair], **detail);
                      }};
        document.add(
            Section{.title = {},
                    .summary = one.table.title + (is_answer ? "" : ": nothing changed"),
                    .blocks = {{TableBlock{.table = std::move(one.table), .is_sortable = true}}, {std::move(charts)}}},
            is_answer ? Weight::answer : Weight::support);
    }
}

std::vector<ChartSection> chart_of_changes(const Comparison& comparison)
{
    ChartSection section;
    if (std::optional<Chart> chart = comparison_chart(comparison)) {
        section.charts.push_back(*std::move(chart));
    }
    return {section};
}

void add_comparison(Document& document, const ComparisonReport& report, const Comparison& comparison,
                    const SharedDetail& detail)
{
    if (report.comparisons.size() > 1) {
        document.add(Heading{comparison.candidate.name});
    }
    document.add(Opening{headline(comparison), findings_of(report, comparison)});
    document.add(Charts{.title = {}, .sections = [&comparison] { return chart_of_changes(comparison); }});
    document.add(sides(comparison));
    add_whole_cases(document, report, comparison);
    add_cases(document, report, comparison, detail);
    add_sites(document, comparison.sites);
    if (report.explain) {
        document.add(Section{.title = "Why", .blocks = {{explanations(report, comparison)}}}, Weight::support);
    }
}

}  // namespace

std::vector<const MetricComparison*> shown(const ComparisonReport& report, const Comparison& comparison)
{
    std::vector<const MetricComparison*> metrics;
    for (const MetricComparison& metric : comparison.metrics) {
        const bool is_left_out = (report.only_changed && !measure::is_change(metric.verdict)) ||
                                 (report.only_judged && metric.verdict == measure::Verdict::informational);
        if (!is_left_out) {
            metrics.push_back(&metric);
        }
    }
    return metrics;
}

std::optional<ComparisonReport> comparison_report(const model::RunReport& report)
{
    std::optional<Comparison> comparison = measure::recorded_comparison(report);
    if (!comparison) {
        return std::nullopt;
    }
    return ComparisonReport{.tool = report.tool,
                            .comparisons = {*std::move(comparison)},
                            .only_judged = true,
                            .description = report.run.scenario_description};
}

model::RunReport without_sites(model::RunReport report)
{
    report.sites.clear();
    return report;
}

std::string side_text(const measure::Side& side)
{
    std::string facts = side.started;
    if (!side.host.empty()) {
        facts += (facts.empty() ? "" : ", ") + side.host;
    }
    return facts.empty() ? side.name : fmt::format("{} ({})", side.name, facts);
}

Document document(const ComparisonReport& report)
{
    const Comparison& first = report.comparisons.front();
    Document document{.kicker = "memsweep comparison",
                      .title = title_of(report),
                      .description = report.description,
                      .comment_marker = first.cases.empty() ? std::string{"comparison"}
                                                            : "comparison " + first.cases.front().scenario};
    if (document.description.empty() && !first.cases.empty()) {
        document.description = first.cases.front().scenario;
    }
    const auto detail = std::make_shared<std::optional<CurveDetail>>();
    for (const Comparison& comparison : report.comparisons) {
        add_comparison(document, report, comparison, detail);
    }
    return document;
}

}  // namespace memsweep::reporters
