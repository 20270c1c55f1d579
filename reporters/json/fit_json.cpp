#include "reporters/json/fit_json.hpp"

#include <utility>

#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

Json json_failure(const std::optional<trace::FitFailure>& failure)
{
    if (!failure) {
        return nullptr;
    }
    return {{"event", failure->event},
            {"size", failure->size},
            {"live_bytes", failure->live_bytes},
            {"largest_hole", failure->largest_hole},
            {"run", failure->run}};
}

Json json_policy(const trace::PolicyFit& fit)
{
    return {{"policy", fit.policy},
            {"capacity", fit.capacity},
            {"ratio", json_number(fit.ratio)},
            {"largest_hole", fit.first_failure ? Json(fit.first_failure->largest_hole) : Json(nullptr)},
            {"first_failure", json_failure(fit.first_failure)},
            {"capacity_after_run", fit.needed_after_run}};
}

}  // namespace

std::string to_json(const FitReport& report)
{
    Json policies = Json::array();
    for (const trace::PolicyFit& fit : report.policies) {
        policies.push_back(json_policy(fit));
    }
    const Json document = {{"live_peak", report.live_peak},
                           {"capacity", report.options.capacity ? Json(*report.options.capacity) : Json(nullptr)},
                           {"alignment", report.options.alignment},
                           {"runs", report.options.runs},
                           {"policies", std::move(policies)}};
    return pretty(document) + "\n";
}

}  // namespace memsweep::reporters
