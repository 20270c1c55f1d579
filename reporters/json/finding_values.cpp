#include "reporters/json/finding_values.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "reporters/json/json_members.hpp"
#include "reporters/wording/finding_words.hpp"

namespace memsweep::reporters {
namespace {

using measure::MetricEffect;

// Adds what there is of one metric.
void add_metric(const MetricEffect& metric, Json& json)
{
    if (!metric.metric.empty()) {
        json["metric"] = metric.metric;
    }
    if (metric.verdict) {
        json["verdict"] = *metric.verdict;
    }
    if (metric.value || metric.base_value || metric.effect) {
        json["unit"] = metric.unit;
    }
    if (metric.value) {
        json["value"] = metric.value;
    }
    if (metric.base_value) {
        json["base_value"] = metric.base_value;
    }
    if (metric.effect) {
        json["effect"] = shift_json(*metric.effect);
    }
}

}  // namespace

Json shift_json(const measure::Shift& shift)
{
    return {{"kind", shift.is_ratio ? "ratio" : "difference"}, {"estimate", shift.estimate}, {"ci95", shift.interval}};
}

Json said(const measure::Finding& finding)
{
    return sentence(finding);
}

Json finding_json(const measure::Finding& finding)
{
    Json json{{"kind", finding.kind}, {"importance", finding.importance}};
    for (const auto& [key, text] :
         {std::pair{"case", &finding.case_id}, {"base", &finding.base}, {"subject", &finding.subject}}) {
        if (!text->empty()) {
            json[key] = *text;
        }
    }
    const std::span metrics{finding.metrics};
    if (!metrics.empty()) {
        add_metric(metrics.front(), json);
    }
    for (const MetricEffect& metric : metrics.subspan(std::min<std::size_t>(metrics.size(), 1))) {
        Json more = Json::object();
        if (metric.of != nullptr) {
            more["case"] = metric.of->id;
        }
        if (metric.base != nullptr) {
            more["base"] = metric.base->id;
        }
        add_metric(metric, more);
        json["more_metrics"].push_back(std::move(more));
    }
    if (const auto* const place = std::get_if<measure::RunPlace>(&finding.about)) {
        json["run"] = place->run;
    }
    if (const auto* const sites = std::get_if<measure::ChangedSites>(&finding.about)) {
        for (const model::SiteChange& site : sites->of.sites) {
            json["sites"].push_back({{"site", site.site}, {"change", site.change}, {"share", site.share}});
        }
    }
    json["count"] = finding.count;
    if (finding.total > 0) {
        json["total"] = finding.total;
    }
    json["text"] = sentence(finding);
    return json;
}

}  // namespace memsweep::reporters
