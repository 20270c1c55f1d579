#include <algorithm>
#include <array>
#include <cmath>

#include "core/measure/comparison.hpp"
#include "core/measure/site_changes.hpp"

namespace memsweep::measure {
namespace {

Finding finding_of(const model::SiteComparison& sites, const model::MetricSites& metric, Importance importance)
{
    return {.kind = metric.sites.empty() ? FindingKind::sites_equal : FindingKind::site_changes,
            .importance = importance,
            .case_id = sites.candidate_case,
            .base = sites.base_case,
            .metrics =
                {{.metric = metric.metric, .unit = metric.unit, .value = metric.candidate, .base_value = metric.base}},
            .count = std::max<std::size_t>(metric.sites.size() + metric.more_sites, 1),
            .about = ChangedSites{metric, sites.runs}};
}

const model::MetricSites* sites_of(const model::SiteComparison& sites, std::string_view metric)
{
    const auto found = std::ranges::find(sites.metrics, metric, &model::MetricSites::metric);
    return found == sites.metrics.end() ? nullptr : &*found;
}

// Of each metric that changed, by its verdict.
std::vector<Finding> judged_findings(const model::SiteComparison& sites, std::span<const MetricEffect> verdicts)
{
    std::vector<Finding> found;
    for (const MetricEffect& metric : verdicts) {
        const bool is_worse = metric.verdict == Verdict::regressed;
        if (!is_metric_of_sites(metric.metric) || (!is_worse && metric.verdict != Verdict::improved)) {
            continue;
        }
        const model::MetricSites* const of = sites_of(sites, metric.metric);
        found.push_back(finding_of(sites, of != nullptr ? *of : model::MetricSites{.metric = metric.metric},
                                   is_worse ? Importance::failure : Importance::note));
        found.back().metrics = {metric};
        found.back().case_id = sites.candidate_case;
    }
    return found;
}

// Of each metric whose whole differs; where none does, of the first in which sites do.
std::vector<Finding> unjudged_findings(const model::SiteComparison& sites)
{
    std::vector<Finding> found;
    for (const model::MetricSites& metric : sites.metrics) {
        if (metric.sites.front().share) {
            found.push_back(finding_of(sites, metric, Importance::note));
        }
    }
    if (found.empty() && !sites.metrics.empty()) {
        found.push_back(finding_of(sites, sites.metrics.front(), Importance::note));
    }
    return found;
}

}  // namespace

std::vector<Finding> site_findings(const model::SiteComparison& sites, std::span<const MetricEffect> verdicts)
{
    std::vector<Finding> found;
    if (!sites.reason.empty()) {
        return {{.kind = FindingKind::sites_unnamed,
                 .importance = Importance::warning,
                 .case_id = sites.candidate_case,
                 .base = sites.base_case,
                 .words = sites.reason}};
    }
    found = judged_findings(sites, verdicts);
    found = found.empty() ? unjudged_findings(sites) : found;
    if (found.empty()) {
        found.push_back(finding_of(sites, {}, Importance::note));
        found.back().metrics.clear();
    }
    return found;
}

}  // namespace memsweep::measure
