#include "reporters/document/site_return.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/explanation.hpp"
#include "reporters/wording/return_words.hpp"

namespace memsweep::reporters {
namespace {

constexpr std::size_t most_named_sites = 20;

std::string signed_size(std::int64_t bytes)
{
    const std::string size = base::format_size(static_cast<double>(std::abs(bytes)));
    return bytes < 0 ? "-" + size : size;
}

Cell signed_cell(std::int64_t bytes)
{
    const std::string exact = base::exact_size(static_cast<std::uint64_t>(std::abs(bytes)));
    return {.text = signed_size(bytes), .exact = bytes < 0 ? "-" + exact : exact};
}

std::string return_words(std::int64_t bytes)
{
    return bytes < 0 ? fmt::format("needs {} more", signed_size(-bytes)) : "returns " + signed_size(bytes);
}

std::string note_of(const measure::ReplayCheck& check)
{
    return fmt::format("what removing all of its blocks returns: the recording replayed without it, medians of three "
                       "replays. That of everything holds {} of heap, the program {}",
                       base::format_size(check.resident), base::format_size(check.measured + check.never_a_block));
}

Cell told_cell(const measure::ReturnedBytes& figure)
{
    return figure.is_told() ? signed_cell(figure.bytes) : Cell{};
}

// Empty: both figures are told.
std::string untold_words(const measure::SiteReturn& result, std::string_view request)
{
    const std::string as_it_is = untold_text(result.as_it_is, result.runs);
    std::string after = untold_text(result.after_request, result.runs);
    if (as_it_is == after) {
        return after;
    }
    const std::string first = as_it_is.empty() ? "" : "as it is: " + as_it_is;
    return after.empty() ? first : fmt::format("{}{}after {}: {}", first, first.empty() ? "" : "; ", request, after);
}

// "removing it returns 2.0 MiB"
std::string removing_words(std::string_view what, const measure::ReturnedBytes& figure, std::uint32_t runs)
{
    return figure.is_told() ? fmt::format("removing {} {}", what, return_words(figure.bytes))
                            : fmt::format("what removing {} returns is not told: {}", what, untold_text(figure, runs));
}

std::string clock_text(double seconds)
{
    return fmt::format("{:.3f} s", seconds);
}

std::string snapshot_words(const CheckedSnapshot& checked)
{
    const std::string name =
        checked.is_of_end ? "the snapshot of its end" : fmt::format("the snapshot at {}", clock_text(checked.seconds));
    constexpr double least_shown = 0.0005;
    return checked.seconds_from_it < least_shown
               ? name
               : fmt::format("{}, {} from that moment", name, clock_text(checked.seconds_from_it));
}

Paragraph check_of(const WhatIfReport& report)
{
    if (!report.checked) {
        return {fmt::format("Whether the replay holds what the program held is not checked. {}", report.not_checked),
                Tone::caution};
    }
    const measure::ReplayCheck& check = report.checked->check;
    const std::string snapshot = snapshot_words(*report.checked);
    if (!check.is_usable()) {
        return {
            fmt::format("What removing a call site returns is not offered: at {}, {}.", snapshot, unusable_text(check)),
            Tone::caution};
    }
    return {fmt::format("Checked with {}: the replay of everything holds {} of heap then, the program held {}.",
                        snapshot, base::format_size(check.resident),
                        base::format_size(check.measured + check.never_a_block)),
            Tone::plain};
}

Table figures_table(const WhatIfReport& one, const std::optional<measure::SiteReturn>& result)
{
    Table table{.title = "The heap at that moment",
                .note = fmt::format("medians of {}; anonymous memory that the replay made", plural(one.runs, "replay")),
                .columns = {Column::word_key("trace")}};
    table.add_numbers({"as it is"});
    table.columns.push_back(Column::number(fmt::format("after {}", request_of(one.allocator))));
    table.rows.push_back({{"whole"}, signed_cell(one.whole.held.median), signed_cell(one.whole.given_back.median)});
    table.rows.push_back(
        {{"without"}, signed_cell(one.without.held.median), signed_cell(one.without.given_back.median)});
    if (result) {
        table.rows.push_back({{"returned"}, told_cell(result->as_it_is), told_cell(result->after_request)});
    }
    return table;
}

}  // namespace

std::optional<measure::SiteReturn> return_of(const WhatIfReport& report)
{
    if (!report.checked) {
        return measure::site_return(report.whole, report.without, report.runs, std::nullopt);
    }
    return report.checked->check.is_usable()
               ? std::optional{measure::site_return(report.whole, report.without, report.runs, report.checked->check)}
               : std::nullopt;
}

std::string_view request_of(measure::KnownAllocator allocator)
{
    constexpr std::array<std::string_view, 5> requests{"malloc_trim", "arena.4096.purge", "mi_collect",
                                                       "ReleaseFreeMemory", "the request"};
    return requests.at(static_cast<std::size_t>(allocator));
}

Document document(const WhatIfReport& report)
{
    Document document{.kicker = "memsweep whatif",
                      .title = report.trace,
                      .description = "What the recorded program would hold without some of its call sites."};
    const std::optional<measure::SiteReturn> result = return_of(report);
    const std::string what = report.sites.size() == 1 ? report.sites.front() : plural(report.sites.size(), "call site");
    const std::string when = report.until.empty() || report.until == "end" ? "at its end" : "at " + report.until;
    const auto sentence = [&](std::string_view held, std::string_view which, auto figure) {
        return fmt::format("{}{}.", held,
                           result ? "; " + removing_words(which, (*result).*figure, result->runs) : std::string{});
    };
    document.add(
        Opening{.headline = {sentence(fmt::format("{} of heap {}", signed_size(report.whole.held.median), when), what,
                                      &measure::SiteReturn::as_it_is)}});
    document.add(Paragraph{
        sentence(fmt::format("After {}: {}", request_of(report.allocator), signed_size(report.whole.given_back.median)),
                 "it", &measure::SiteReturn::after_request),
        Tone::plain});
    if (report.process) {
        const std::string program = report.program.empty() ? std::string{} : fmt::format(" ({})", report.program);
        document.add(Paragraph{fmt::format("Of the trace's processes {}{} is replayed.", *report.process, program),
                               Tone::plain});
    }
    document.add(TableBlock{.table = figures_table(report, result), .id = "figures"});
    for (const std::string& warning : report.warnings) {
        document.add(Paragraph{warning, Tone::caution});
    }
    document.add(check_of(report));
    if (report.sites.size() > 1) {
        Items sites{.items = {}, .has_bullets = true};
        for (std::size_t i = 0; i < std::min(report.sites.size(), most_named_sites); ++i) {
            sites.items.push_back({report.sites[i]});
        }
        if (report.sites.size() > most_named_sites) {
            sites.items.push_back({fmt::format("and {} more", report.sites.size() - most_named_sites)});
        }
        document.add(std::move(sites), Weight::support);
    }
    Facts facts;
    facts.list = {{"replayed on", report.on}};
    document.add(std::move(facts), Weight::reference);
    return document;
}

void add_returns(const Explanation& explanation, Document& document)
{
    if (!explanation.replay_check && explanation.no_returns.empty()) {
        return;
    }
    if (!explanation.no_returns.empty()) {
        document.add(
            Paragraph{fmt::format("What removing a call site returns is not offered: {}.", explanation.no_returns),
                      Tone::plain},
            Weight::support);
        return;
    }
    const std::string_view request = request_of(explanation.allocator);
    Table table{.title = "Without a call site",
                .note = note_of(*explanation.replay_check),
                .columns = {Column::word_key("site")}};
    table.add_numbers({"returns"});
    table.columns.push_back(Column::number(fmt::format("after {}", request)));
    Items untold{.items = {}, .has_bullets = true};
    for (const ExplainedSite& site : explanation.sites) {
        if (!site.without) {
            continue;
        }
        const std::string place = site.place.empty() ? "no stack" : site.place;
        table.rows.push_back({{place}, told_cell(site.without->as_it_is), told_cell(site.without->after_request)});
        if (const std::string why = untold_words(*site.without, request); !why.empty()) {
            untold.items.push_back({fmt::format("{}: {}", place, why)});
        }
    }
    document.add_table(TableBlock{.table = std::move(table), .id = "returns"});
    if (!untold.items.empty()) {
        document.add(std::move(untold), Weight::support);
    }
}

}  // namespace memsweep::reporters
