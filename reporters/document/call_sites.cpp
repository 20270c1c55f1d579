#include "reporters/document/call_sites.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/trace/symbols/site_names.hpp"
#include "reporters/document/trace_summary.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/wording/trace_words.hpp"

namespace memsweep::reporters {
namespace {

using trace::AllocationFigures;
using trace::CallSite;
using trace::SiteKind;
using trace::SiteOrder;

constexpr std::size_t most_stacks = 5;
constexpr std::size_t most_stack_lines = 24;

std::string sites_count_text(std::uint64_t count)
{
    return base::format_count(static_cast<double>(count));
}

double share_of(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string figure_text(const AllocationFigures& figures, SiteOrder order)
{
    const std::uint64_t value = trace::figure_of(figures, order);
    const bool is_count = order == SiteOrder::count || order == SiteOrder::temporary;
    return is_count ? sites_count_text(value) : base::format_size(value);
}

std::string_view words_of(SiteOrder order)
{
    switch (order) {
    case SiteOrder::peak:
        return "live at the peak";
    case SiteOrder::allocated:
        return "allocated";
    case SiteOrder::end:
        return "live at the end";
    case SiteOrder::count:
        return "allocations";
    case SiteOrder::temporary:
        return "temporary allocations";
    }
    return {};
}

std::string_view title_of(SiteKind kind)
{
    switch (kind) {
    case SiteKind::site:
        return "site";
    case SiteKind::function:
        return "function";
    case SiteKind::file:
        return "file";
    case SiteKind::thread:
        return "thread";
    case SiteKind::size:
        return "size";
    }
    return {};
}

void add_figures(std::vector<Cell>& row, const AllocationFigures& figures, const AllocationFigures& total,
                 SiteOrder order)
{
    const double share = share_of(trace::figure_of(figures, order), trace::figure_of(total, order));
    row.push_back({.text = percent_text(share), .share = share});
    row.push_back({base::format_size(figures.peak_bytes), base::exact_size(figures.peak_bytes)});
    row.push_back({base::format_size(figures.bytes_allocated), base::exact_size(figures.bytes_allocated)});
    row.push_back({base::format_size(figures.end_bytes), base::exact_size(figures.end_bytes)});
    row.push_back({sites_count_text(figures.allocations)});
    row.push_back({sites_count_text(figures.temporary)});
    row.push_back({base::format_size(figures.own_peak_bytes), base::exact_size(figures.own_peak_bytes)});
}

// How good the figures of a sample are.
std::string sample_text(const trace::CallSites& sites)
{
    const std::string every = base::format_size(sites.sampling().mean_bytes);
    if (!sites.has_exact_callers()) {
        return fmt::format("Estimates from a sample of stacks, {} apart on average.", every);
    }
    const bool has_estimated_peaks = std::ranges::any_of(sites.sites(), &CallSite::has_estimated_own_peak);
    return fmt::format(
        "Exact are the total and the sum of each address that calls for memory. How stacks share these is "
        "estimated from a sample, {} apart on average.{}",
        every,
        has_estimated_peaks ? " A most at a time with ~ is a rough estimate, of a site that shares such an "
                              "address, and may be too high by a few times this distance."
                            : "");
}

Table sites_table(const CallSitesReport& report)
{
    const trace::CallSites& sites = *report.sites;
    const SiteKind by = sites.query().by;
    const SiteOrder order = sites.query().order;
    Table table{
        .title = fmt::format("By {}", title_of(by)),
        .note = fmt::format("the most {} first", words_of(order)),
        .columns = {by == SiteKind::size ? Column::number_key("size") : Column::word_key(std::string{title_of(by)})}};
    table.add_numbers(
        {"share", "at the peak", "allocated", "at the end", "allocations", "temporary", "most at a time"});
    const std::size_t named = named_sites(report);
    AllocationFigures rest;
    for (std::size_t i = 0; i < sites.sites().size(); ++i) {
        const CallSite& site = sites.sites()[i];
        if (i >= named) {
            trace::add(rest, site.figures);
            continue;
        }
        std::vector<Cell> row{{inert_text(site_label(site, by))}};
        add_figures(row, site.figures, sites.total(), order);
        if (site.has_estimated_own_peak && sites.has_exact_callers()) {
            row.back().text.insert(0, "~");
        }
        table.rows.push_back(std::move(row));
    }
    if (named < sites.sites().size()) {
        std::vector<Cell> row{
            {fmt::format("{} more", sites_count_text(sites.sites().size() - named)), {}, {}, Tone::muted}};
        add_figures(row, rest, sites.total(), order);
        row.back() = {};
        table.rows.push_back(std::move(row));
    }
    std::vector<Cell> row{{"all"}};
    add_figures(row, sites.total(), sites.total(), order);
    table.rows.push_back(std::move(row));
    return table;
}

// Numbers for texts, in the order in which they first come.
class TextNumbers {
  public:
    std::uint32_t of(std::string_view text)
    {
        const auto [place, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
        if (is_new) {
            texts_.emplace_back(text);
        }
        return place->second;
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(texts_); }

  private:
    std::unordered_map<std::string_view, std::uint32_t> numbers_;
    std::vector<std::string> texts_;
};

FlameTree flame_tree(const trace::CallTree& tree)
{
    FlameTree flame;
    TextNumbers names;
    TextNumbers files;
    constexpr std::array<std::pair<SiteOrder, bool>, 4> figures{
        {{SiteOrder::peak, true}, {SiteOrder::allocated, true}, {SiteOrder::end, true}, {SiteOrder::temporary, false}}};
    for (const auto& [order, is_bytes] : figures) {
        flame.figures.push_back({.title = std::string{words_of(order)}, .is_bytes = is_bytes});
    }
    for (const trace::CallTree::Node& node : tree.nodes()) {
        flame.parent.push_back(node.parent);
        flame.name.push_back(names.of(node.frame.function));
        flame.file.push_back(files.of(trace::file_name(node.frame.file)));
        flame.line.push_back(node.frame.line);
        for (std::size_t i = 0; i < figures.size(); ++i) {
            flame.figures[i].own.push_back(trace::figure_of(node.own, figures[i].first));
        }
    }
    flame.names = names.take();
    flame.files = files.take();
    return flame;
}

}  // namespace

std::string place_label(const trace::ResolvedFrame& frame)
{
    return trace::place_name(frame);
}

std::string site_label(const CallSite& site, SiteKind kind)
{
    const trace::ResolvedFrame& place = site.place;
    switch (kind) {
    case SiteKind::thread:
        return fmt::format("thread {} of process {}", site.thread.thread, site.thread.process);
    case SiteKind::size:
        return base::exact_size(site.size);
    case SiteKind::file:
        if (!place.file.empty() || !place.module.empty()) {
            return std::string{place.file.empty() ? place.module : place.file};
        }
        break;
    case SiteKind::function:
        if (!place.function.empty()) {
            return std::string{place.function};
        }
        break;
    case SiteKind::site:
        if (!place.function.empty()) {
            return place_label(place);
        }
        break;
    }
    return place.function.empty() ? "no stack" : "not known";
}

std::size_t named_sites(const CallSitesReport& report)
{
    const std::size_t all = report.sites->sites().size();
    return report.top == 0 ? all : std::min(all, report.top);
}

Document document(const CallSitesReport& report)
{
    const trace::CallSites& sites = *report.sites;
    const SiteKind by = sites.query().by;
    const SiteOrder order = sites.query().order;
    Document document{.kicker = fmt::format("memsweep info --by {}", title_of(by)),
                      .title = inert_text(report.source),
                      .description = "Who asks for memory, and how much of it."};
    if (sites.sites().empty()) {
        document.add(Opening{.headline = {"Nothing was allocated.", Tone::plain}});
        return document;
    }
    const CallSite& first = sites.sites().front();
    document.add(Opening{
        .headline = {fmt::format("{}: {} of {} {}.", inert_text(site_label(first, by)),
                                 figure_text(first.figures, order), figure_text(sites.total(), order), words_of(order)),
                     Tone::plain}});
    if (!sites.sampling().is_exact()) {
        document.add(Paragraph{sample_text(sites), Tone::caution});
    }
    if (!report.up_to.empty()) {
        document.add(Paragraph{fmt::format("Up to the end of the work ({}): what the program did then is not counted.",
                                           inert_text(report.up_to)),
                               Tone::muted});
    }
    for (const std::string& gap : report.gaps) {
        document.add(Paragraph{sentence_of(gap), Tone::caution});
    }
    for (const std::string& note : sites.notes()) {
        document.add(Paragraph{inert_text(note), Tone::caution});
    }
    if (by != SiteKind::thread && by != SiteKind::size) {
        document.add(FlameGraph{[&report] { return flame_tree(report.sites->tree()); }}, Weight::appendix);
    }
    document.add(TableBlock{.table = sites_table(report), .id = "sites", .is_sortable = true});
    document.add(Later{[report] {
                     Blocks blocks;
                     std::size_t shown = 0;
                     for (const CallSite& site : report.sites->sites()) {
                         if (shown == most_stacks || shown == named_sites(report)) {
                             break;
                         }
                         if (site.stack == 0) {
                             continue;
                         }
                         Items items;
                         for (const trace::ResolvedFrame& frame : report.sites->stack_of(site)) {
                             if (items.items.size() == most_stack_lines) {
                                 items.items.push_back({"..."});
                                 break;
                             }
                             items.items.push_back({inert_text(place_label(frame))});
                         }
                         blocks.push_back(
                             {Section{.title = fmt::format("Stack of {}",
                                                           inert_text(site_label(site, report.sites->query().by))),
                                      .blocks = {{std::move(items), Weight::answer}}},
                              Weight::reference});
                         ++shown;
                     }
                     return blocks;
                 }},
                 Weight::reference);
    return document;
}

}  // namespace memsweep::reporters
