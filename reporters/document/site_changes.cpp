#include "reporters/document/site_changes.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "reporters/document/table.hpp"
#include "reporters/wording/site_words.hpp"

namespace memsweep::reporters {
namespace {

using model::MetricSites;
using model::SiteChange;

constexpr std::size_t most_site_rows = 10;  // that are read where there is no room for all

std::vector<Cell> row_of(const MetricSites& metric, const SiteChange& site, bool has_blocks)
{
    std::vector<Cell> row{{site_text(site)},
                          value_cell(site.base, metric.unit),
                          value_cell(site.candidate, metric.unit),
                          {measure::format_difference(metric.unit, site.change), exact_text(site.change, metric.unit)},
                          {site.share ? measure::format_percent(std::round(*site.share * 1000) / 1000) : ""}};
    if (has_blocks) {
        row.push_back({site.blocks ? measure::format_difference(model::Unit::one, *site.blocks) : std::string{}});
    }
    return row;
}

Table table_of(const model::SiteComparison& sites, const MetricSites& metric)
{
    const bool has_blocks = metric.sites.front().blocks.has_value();
    Table table{.title = "Call sites: " + metric.metric,
                .note = plural(sites.runs, "recorded run") + " of each program",
                .columns = {Column::word_key("site"), Column::number("base"), Column::number("candidate"),
                            Column::number("change"), Column::number("of all")}};
    if (has_blocks) {
        table.columns.push_back(Column::number("blocks"));
    }
    for (const SiteChange& site : metric.sites) {
        table.rows.push_back(row_of(metric, site, has_blocks));
    }
    if (metric.more_sites > 0) {
        const SiteChange more{.site = plural(metric.more_sites, "more site"),
                              .through = {},
                              .callers = {},
                              .change = metric.more_change,
                              .share = {}};
        table.rows.push_back(row_of(metric, more, has_blocks));
        table.rows.back()[1] = table.rows.back()[2] = {};
    }
    const SiteChange whole{.site = "whole program",
                           .through = {},
                           .callers = {},
                           .base = metric.base,
                           .candidate = metric.candidate,
                           .change = metric.change,
                           .share = {}};
    table.rows.push_back(row_of(metric, whole, has_blocks));
    return table;
}

void add_callers(Document& document, const SiteChange& site)
{
    Items items;
    for (const std::string& caller : site.callers) {
        items.items.push_back({caller});
    }
    if (!items.items.empty()) {
        document.add(Section{.title = "Callers of " + site.site, .blocks = {{std::move(items)}}}, Weight::reference);
    }
}

}  // namespace

void add_sites(Document& document, const std::vector<model::SiteComparison>& sites)
{
    for (const model::SiteComparison& one : sites) {
        for (const MetricSites& metric : one.metrics) {
            document.add(TableBlock{.table = table_of(one, metric), .is_sortable = true, .most_rows = most_site_rows},
                         Weight::reference);
        }
        std::string said;
        for (const MetricSites& metric : one.metrics) {
            if (metric.sites.front().site != said) {
                said = metric.sites.front().site;
                add_callers(document, metric.sites.front());
            }
        }
        for (const std::string& note : one.notes) {
            document.add(Paragraph{note}, Weight::reference);
        }
    }
}

}  // namespace memsweep::reporters
