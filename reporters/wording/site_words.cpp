#include "reporters/wording/site_words.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/measure/format.hpp"

namespace memsweep::reporters {
namespace {

using measure::counted;
using measure::format_difference;
using model::MetricSites;
using model::SiteChange;

constexpr std::size_t named_sites_of_metric = 3;
constexpr double noticed_share = 0.005;

// "a, b and c".
std::string joined(const std::vector<std::string>& texts)
{
    return texts.size() < 2 ? fmt::format("{}", fmt::join(texts, ""))
                            : fmt::format("{} and {}", fmt::join(texts.begin(), texts.end() - 1, ", "), texts.back());
}

struct RestOfSites {
    std::uint64_t sites{};
    double change{};
};

RestOfSites rest_of(const MetricSites& metric, std::size_t named)
{
    RestOfSites rest{metric.more_sites, metric.more_change};
    for (std::size_t i = named; i < metric.sites.size(); ++i) {
        ++rest.sites;
        rest.change += metric.sites[i].change;
    }
    return rest;
}

std::string shares_in_percent(const MetricSites& metric)
{
    std::vector<std::string> parts;
    double left = 1;
    const std::size_t named = std::min(metric.sites.size(), named_sites_of_metric);
    for (std::size_t i = 0; i < named; ++i) {
        const SiteChange& site = metric.sites[i];
        left -= *site.share;
        parts.push_back(fmt::format("{}{} from {}", measure::format_percent(std::round(*site.share * 1000) / 1000),
                                    i == 0 ? " of it" : "", site_text(site)));
    }
    const RestOfSites rest = rest_of(metric, named);
    if (rest.sites > 0) {
        parts.push_back(fmt::format("the rest from {}", counted(rest.sites, "more site")));
    } else if (left > noticed_share) {
        parts.emplace_back("the rest from no single site");
    }
    return joined(parts);
}

std::string shares_in_unit(const MetricSites& metric)
{
    std::vector<std::string> parts;
    const std::size_t named = std::min(metric.sites.size(), named_sites_of_metric);
    for (std::size_t i = 0; i < named; ++i) {
        parts.push_back(fmt::format("{} from {}", format_difference(metric.unit, metric.sites[i].change),
                                    site_text(metric.sites[i])));
    }
    if (const RestOfSites rest = rest_of(metric, named); rest.sites > 0) {
        parts.push_back(
            fmt::format("{} from {}", format_difference(metric.unit, rest.change), counted(rest.sites, "more site")));
    }
    return joined(parts);
}

}  // namespace

std::string site_text(const SiteChange& site)
{
    const std::string through =
        site.through.empty() ? "" : fmt::format(" through {}", fmt::join(site.through, " and "));
    const std::string_view there = site.in == model::SiteIn::candidate ? ", which is new"
                                   : site.in == model::SiteIn::base    ? ", which is gone"
                                                                       : "";
    return fmt::format("{}{}{}", site.site, through, there);
}

std::string shares_text(const MetricSites& metric)
{
    const SiteChange& first = metric.sites.front();
    if (first.share && std::fabs(*first.share - 1) < noticed_share) {
        return "all of it from " + site_text(first);
    }
    const bool are_parts = std::ranges::all_of(metric.sites, [](const SiteChange& site) {
        return site.share && *site.share > 0 && *site.share < 1 + noticed_share;
    });
    return are_parts ? shares_in_percent(metric) : shares_in_unit(metric);
}

std::string sites_text(const MetricSites& metric)
{
    const bool has_changed = metric.sites.front().share.has_value();
    return fmt::format("{} {}: {}", metric.metric,
                       has_changed ? format_difference(metric.unit, metric.change) : "the same in sum",
                       shares_text(metric));
}

std::string equal_sites_text(const measure::ChangedSites& sites)
{
    return sites.of.metric.empty() ? fmt::format("call sites: equal within their noise in {} of each program",
                                                 counted(sites.runs, "recorded run"))
                                   : fmt::format("{}: no call site differs by more than its {} of each program scatter",
                                                 sites.of.metric, counted(sites.runs, "recorded run"));
}

}  // namespace memsweep::reporters
