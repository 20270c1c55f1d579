#include "reporters/document/leaks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric.hpp"
#include "reporters/document/dot_chart.hpp"
#include "reporters/document/table.hpp"
#include "reporters/text/escaping.hpp"

namespace memsweep::reporters {
namespace {

using measure::Growth;

constexpr std::size_t most_leak_stacks = 5;

std::string_view moment_of(const LeaksReport& report)
{
    return report.at_peak ? "at the peak" : "at the end";
}

std::string blocks_text(double blocks)
{
    return fmt::format("{:.3g} {}", blocks, blocks == 1 ? "block" : "blocks");
}

// Less than a byte for an operation is no rounding error: it is a block now and then.
std::string bytes_text(double bytes)
{
    constexpr double whole = 100;
    return bytes < whole && bytes > -whole ? fmt::format("{:.3g} B", bytes) : value_text(bytes, model::Unit::bytes);
}

// "64 B in 1 block", "about 0.48 B in 0.01 blocks".
std::string rate_text(const measure::GrowthPerOperation& growth)
{
    return fmt::format("{}{} in {}", growth.is_exact ? "" : "about ", bytes_text(growth.bytes),
                       blocks_text(growth.blocks));
}

std::string range_text(const LeaksReport& report)
{
    return fmt::format("from {} to {} operations", report.operations.front(), report.operations.back());
}

// Bytes held after so many operations: the least and the most of the runs.
std::pair<std::uint64_t, std::uint64_t> held_after(const LeakSite& site, std::uint64_t operations)
{
    std::uint64_t least = UINT64_MAX;
    std::uint64_t most = 0;
    for (const measure::HeldAfter& one : site.held) {
        if (one.operations == operations) {
            least = std::min(least, one.bytes);
            most = std::max(most, one.bytes);
        }
    }
    return {least, most};
}

std::string held_text(const LeakSite& site, std::uint64_t operations)
{
    const auto [least, most] = held_after(site, operations);
    return least >= most ? base::format_size(most)
                         : fmt::format("{} to {}", base::format_size(least), base::format_size(most));
}

std::string no_leak_text(const LeaksReport& report)
{
    const std::uint64_t from = report.whole.growth.grew_from;
    const std::uint64_t until = report.whole.growth.grew_until;
    const bool has_more_bytes = held_after(report.whole, until).first > held_after(report.whole, from).second;
    if (until == 0 || !has_more_bytes) {  // it may have grown in blocks alone
        return fmt::format("No leak: what is live {} does not grow {}.", moment_of(report), range_text(report));
    }
    return fmt::format(
        "No leak: what is live {} grows from {} after {} operations to {} after {}, and no more up to {}: "
        "not with each operation.",
        moment_of(report), held_text(report.whole, from), from, held_text(report.whole, until), until,
        report.operations.back());
}

constexpr std::uint64_t noticed_mapped_bytes = std::uint64_t{256} << 10U;

std::uint64_t most_held(const LeakSite& site)
{
    const auto most = std::ranges::max_element(site.held, {}, &measure::HeldAfter::bytes);
    return most == site.held.end() ? 0 : most->bytes;
}

std::vector<Cell> row_of(const LeaksReport& report, const LeakSite& site, std::string name)
{
    const measure::GrowthPerOperation& growth = site.growth;
    std::vector<Cell> row{{std::move(name)}};
    row.push_back({bytes_text(growth.bytes), exact_text(growth.bytes, model::Unit::bytes)});
    row.push_back({fmt::format("{:.3g}", growth.blocks)});
    row.push_back({growth.growth == Growth::none   ? "none"
                   : growth.growth == Growth::late ? "late"
                   : growth.is_exact               ? "exact"
                                                   : "steady"});
    for (const std::uint64_t operations : report.operations) {
        row.push_back({held_text(site, operations)});
    }
    return row;
}

Table table_of(const LeaksReport& report, const std::vector<LeakSite>& sites, std::string title)
{
    Table table{.title = std::move(title),
                .note = fmt::format("{} runs of each number of operations", report.rounds),
                .columns = {Column::word_key("site"), Column::number("bytes per operation"),
                            Column::number("blocks per operation"), Column::word("growth")}};
    for (const std::uint64_t operations : report.operations) {
        table.columns.push_back(Column::number(fmt::format("{}={}", report.variable, operations)));
    }
    for (const LeakSite& site : sites) {
        table.rows.push_back(row_of(report, site, site.place));
    }
    return table;
}

double median_after(const LeakSite& site, std::uint64_t operations)
{
    std::vector<double> bytes;
    for (const measure::HeldAfter& one : site.held) {
        if (one.operations == operations) {
            bytes.push_back(static_cast<double>(one.bytes));
        }
    }
    return bytes.empty() ? 0 : measure::median(std::move(bytes));
}

Chart chart_by_operations(const LeaksReport& report)
{
    std::vector<Dot> dots;
    for (const std::uint64_t operations : report.operations) {
        dots.push_back({.name = inert_text(fmt::format("{}={}", report.variable, operations)),
                        .value = median_after(report.whole, operations)});
    }
    return dot_chart({.quantity = fmt::format("live bytes {}", moment_of(report)),
                      .unit = model::Unit::bytes,
                      .alternative = "operation count",
                      .value = "median",
                      .about = "Dots are medians over the runs of the whole program. A leak grows at every step."},
                     dots);
}

// Absent: fewer than two sites keep bytes.
std::optional<Chart> chart_by_site(const LeaksReport& report)
{
    constexpr std::size_t most_sites = 10;
    std::vector<Dot> dots;
    std::size_t growing = 0;
    for (const LeakSite& site : report.sites) {
        if (site.growth.bytes > 0 && ++growing <= most_sites) {
            dots.push_back({.name = site.place, .value = site.growth.bytes, .text = bytes_text(site.growth.bytes)});
        }
    }
    if (dots.size() < 2) {
        return std::nullopt;
    }
    const std::string which = growing > most_sites ? fmt::format(" The {} largest of {}.", most_sites, growing) : "";
    return dot_chart({.quantity = "bytes per operation",
                      .unit = model::Unit::bytes,
                      .alternative = "call site",
                      .value = "bytes",
                      .about = "Dots are the bytes that each operation leaves behind, by the call site that asked for "
                               "them." +
                               which},
                     dots);
}

std::vector<ChartSection> charts_of(const LeaksReport& report)
{
    ChartSection section;
    section.charts.push_back(chart_by_operations(report));
    if (auto by_site = chart_by_site(report)) {
        section.charts.push_back(*std::move(by_site));
    }
    return {std::move(section)};
}

void add_stacks(const LeaksReport& report, Document& document)
{
    for (std::size_t i = 0; i < std::min(report.sites.size(), most_leak_stacks); ++i) {
        const LeakSite& site = report.sites[i];
        document.add_stack(site.place, site.stack, i == 0 ? Weight::support : Weight::reference);
    }
}

}  // namespace

LeakVerdict verdict_of(const LeaksReport& report)
{
    const auto has = [&](Growth growth) {
        return report.whole.growth.growth == growth ||
               std::ranges::any_of(report.sites, [&](const LeakSite& one) { return one.growth.growth == growth; });
    };
    if (has(Growth::steady)) {
        return LeakVerdict::leak;
    }
    return has(Growth::late) || report.mapped.growth.growth != Growth::none ? LeakVerdict::unsure : LeakVerdict::none;
}

std::string_view name_of(LeakVerdict verdict)
{
    switch (verdict) {
    case LeakVerdict::none:
        return "none";
    case LeakVerdict::leak:
        return "leak";
    case LeakVerdict::unsure:
        return "unsure";
    }
    return {};
}

std::string headline_of(const LeaksReport& report)
{
    const std::string range = range_text(report);
    switch (verdict_of(report)) {
    case LeakVerdict::none:
        return no_leak_text(report);
    case LeakVerdict::unsure:
        if (report.mapped.growth.growth != Growth::none) {
            return fmt::format(
                "Not told: no block is left behind at every step, but what the program maps itself grows "
                "{}, from {} to {}.",
                range, held_text(report.mapped, report.operations.front()),
                held_text(report.mapped, report.operations.back()));
        }
        return fmt::format(
            "Not told: only the last step to {} operations leaves more behind. Ask with more operations.",
            report.operations.back());
    case LeakVerdict::leak:
        break;
    }
    const auto steady =
        std::ranges::find(report.sites, Growth::steady, [](const auto& one) { return one.growth.growth; });
    if (steady == report.sites.end()) {
        return fmt::format("Leak: each operation leaves {} behind, of no single site.", rate_text(report.whole.growth));
    }
    const auto sites =
        std::ranges::count(report.sites, Growth::steady, [](const auto& one) { return one.growth.growth; });
    return fmt::format("Leak: each operation leaves {} behind, {} {}{}.", rate_text(steady->growth),
                       sites == 1 ? "all of it at" : "at", steady->place,
                       sites == 1 ? ""
                                  : fmt::format(" and {} more", plural(static_cast<std::uint64_t>(sites) - 1, "site")));
}

Document document(const LeaksReport& report)
{
    const LeakVerdict verdict = verdict_of(report);
    Document document{
        .kicker = "memsweep run --leaks",
        .title = inert_text(report.command),
        .description = fmt::format("What is live {} for each operation, {}.", moment_of(report), range_text(report))};
    document.add(Opening{.headline = {headline_of(report), verdict == LeakVerdict::leak     ? Tone::bad
                                                           : verdict == LeakVerdict::unsure ? Tone::caution
                                                                                            : Tone::good}});
    if (!report.freed_at_end.empty()) {
        const LeakSite& first = report.freed_at_end.front();
        document.add(Paragraph{fmt::format("Until the end each operation holds {} at {}; all of it is freed before the "
                                           "program ends. --release-after {} judges what is live at the peak.",
                                           rate_text(first.growth), first.place, report.operations.back()),
                               Tone::caution});
    }
    if (const std::uint64_t mapped = most_held(report.mapped); mapped >= noticed_mapped_bytes) {
        document.add(
            Paragraph{fmt::format("{} are mapped by the program itself, as by Python's and other pools. Blocks "
                                  "within are not seen; PYTHONMALLOC=malloc shows those of CPython.",
                                  base::format_size(mapped)),
                      Tone::caution});
    }
    for (const std::string& note : report.notes) {
        document.add(Paragraph{note, Tone::caution});
    }
    document.add(Charts{.title = {}, .sections = [&report] { return charts_of(report); }});
    std::vector<LeakSite> rows = report.sites;
    rows.push_back(report.whole);
    rows.back().place = "whole program";
    document.add(TableBlock{.table = table_of(report, rows, fmt::format("Live {}", moment_of(report))), .id = "sites"});
    if (!report.freed_at_end.empty()) {
        document.add(TableBlock{.table = table_of(report, report.freed_at_end, "Live at the peak, freed at the end"),
                                .id = "freed"},
                     Weight::reference);
    }
    add_stacks(report, document);
    return document;
}

}  // namespace memsweep::reporters
