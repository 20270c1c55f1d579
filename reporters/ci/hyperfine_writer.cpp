#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/measure/summary.hpp"
#include "core/model/metric_id.hpp"
#include "reporters/ci/ci_formats.hpp"
#include "reporters/text/escaping.hpp"
#include "reporters/text/json.hpp"

namespace memsweep::reporters {
namespace {

std::vector<double> times_of(const model::CaseReport& report, std::string_view name)
{
    const model::Metric* const metric = model::find_metric(report, name);
    return metric == nullptr ? std::vector<double>{} : measure::present(metric->values);
}

double mean_of(const std::vector<double>& values)
{
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of a sample, as hyperfine's: divided by n - 1.
double deviation_of(const std::vector<double>& values, double mean)
{
    double sum = 0;
    for (const double value : values) {
        sum += (value - mean) * (value - mean);
    }
    return values.size() < 2 ? 0 : std::sqrt(sum / static_cast<double>(values.size() - 1));
}

}  // namespace

void write_hyperfine(const model::RunReport& report, TextSink& sink)
{
    Json results = Json::array();
    for (const model::CaseReport& one : report.cases) {
        const std::vector<double> times = times_of(one, model::metrics::wall_time);
        if (times.empty()) {
            continue;
        }
        const auto command = std::ranges::find(one.params, "command", &model::Param::name);
        Json result{{"command", repaired_utf8(command == one.params.end() ? one.id : model::to_text(command->value))}};
        const double mean = mean_of(times);
        result["mean"] = mean;
        result["stddev"] = times.size() < 2 ? Json() : Json(deviation_of(times, mean));
        std::vector<double> sorted = times;
        std::ranges::sort(sorted);
        result["median"] = (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
        for (const auto& [key, name] : {std::pair{"user", "user_time"}, {"system", "system_time"}}) {
            const std::vector<double> values = times_of(one, name);
            result[key] = values.empty() ? Json() : Json(mean_of(values));
        }
        result["min"] = sorted.front();
        result["max"] = sorted.back();
        result["times"] = times;
        Json parameters = Json::object();
        for (const model::Param& param : one.params) {
            if (param.name != "command") {
                parameters[param.name] = repaired_utf8(model::to_text(param.value));
            }
        }
        if (!parameters.empty()) {
            result["parameters"] = std::move(parameters);
        }
        results.push_back(std::move(result));
    }
    sink.add(pretty(Json{{"results", std::move(results)}}) + "\n");
}

}  // namespace memsweep::reporters
