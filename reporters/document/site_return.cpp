#include "reporters/document/site_return.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "reporters/document/explanation.hpp"

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

std::string note_of(const ReplayCheck& check)
{
    return fmt::format("what removing all of its blocks returns: the recording replayed without it, medians of three "
                       "replays. That of everything holds {} of heap, the program {}",
                       base::format_size(check.resident), base::format_size(check.measured + check.never_a_block));
}

Table figures_table(const WhatIfReport& one, const SiteReturn& difference)
{
    Table table{.title = "The heap at that moment",
                .note = fmt::format("medians of {}; anonymous memory that the replay made", plural(one.runs, "replay")),
                .columns = {Column::word_key("trace")}};
    table.add_numbers({"as it is"});
    table.columns.push_back(Column::number(fmt::format("after {}", request_of(one.allocator))));
    table.rows.push_back({{"whole"}, signed_cell(one.whole.held), signed_cell(one.whole.given_back)});
    table.rows.push_back({{"without"}, signed_cell(one.without.held), signed_cell(one.without.given_back)});
    table.rows.push_back(
        {{"returned"}, signed_cell(difference.returns), signed_cell(difference.returns_after_request)});
    return table;
}

}  // namespace

SiteReturn site_return(const HeapFigures& whole, const HeapFigures& without, std::uint32_t runs)
{
    return {whole.held - without.held, whole.given_back - without.given_back, runs};
}

double ReplayCheck::off() const noexcept
{
    const std::uint64_t expected = std::clamp(resident, measured, measured + never_a_block);
    const auto apart = static_cast<double>(std::max(resident, expected) - std::min(resident, expected));
    return measured == 0 ? (apart == 0 ? 0 : std::numeric_limits<double>::max())
                         : apart / static_cast<double>(measured);
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
    const SiteReturn result = site_return(report.whole, report.without, report.runs);
    const std::string what = report.sites.size() == 1 ? report.sites.front() : plural(report.sites.size(), "call site");
    const std::string when = report.until.empty() || report.until == "end" ? "at its end" : "at " + report.until;
    document.add(Opening{.headline = {fmt::format("{} of heap {}; removing {} {}.", signed_size(report.whole.held),
                                                  when, what, return_words(result.returns))}});
    document.add(
        Paragraph{fmt::format("After {}: {}; removing it {}.", request_of(report.allocator),
                              signed_size(report.whole.given_back), return_words(result.returns_after_request)),
                  Tone::plain});
    document.add(TableBlock{.table = figures_table(report, result), .id = "figures"});
    for (const std::string& warning : report.warnings) {
        document.add(Paragraph{warning, Tone::caution});
    }
    document.add(Paragraph{"The program itself was not measured beside this trace: whether its replay holds what it "
                           "held is not checked. `memsweep explain` checks that.",
                           Tone::caution});
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
    for (const ExplainedSite& site : explanation.sites) {
        if (site.without) {
            table.rows.push_back({{site.place.empty() ? "no stack" : site.place},
                                  signed_cell(site.without->returns),
                                  signed_cell(site.without->returns_after_request)});
        }
    }
    document.add_table(TableBlock{.table = std::move(table), .id = "returns"});
}

}  // namespace memsweep::reporters
