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

// Whether the name is what a case's id has room for of this command: its beginning, an ellipsis, and a number (" (2)")
// where another command begins the same.
bool is_cut(std::string_view name, std::string command)
{
    constexpr std::string_view sign = "…";
    constexpr std::size_t least_bytes = 50;  // before the sign: a shorter name was given
    std::ranges::replace_if(
        command, [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    const std::size_t cut = name.rfind(sign);
    if (cut == std::string_view::npos) {  // as earlier builds cut
        return name.size() > least_bytes + sign.size() && command.starts_with(name);
    }
    if (cut < least_bytes || !command.starts_with(name.substr(0, cut))) {
        return false;
    }
    const std::string_view number = name.substr(cut + sign.size());
    return number.empty() || (number.starts_with(" (") && number.ends_with(')') &&
                              number.find_first_not_of("0123456789", 2) == number.size() - 1);
}

// The command as hyperfine calls it: the name on the axis `command`, which may hold {PARAMETER}, or else its line.
std::string command_of(const model::CaseReport& report)
{
    const auto named = std::ranges::find(report.params, "command", &model::Param::name);
    if (named == report.params.end()) {
        return report.command.empty() ? report.id : report.command;
    }
    std::string name = model::to_text(named->value);
    for (const model::Param& param : report.params) {
        const std::string placeholder = "{" + param.name + "}";
        const std::string value = model::to_text(param.value);
        for (std::size_t at = name.find(placeholder); at != std::string::npos; at = name.find(placeholder, at)) {
            name.replace(at, placeholder.size(), value);
            at += value.size();
        }
    }
    return is_cut(name, report.command) ? report.command : name;
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
        Json result{{"command", repaired_utf8(command_of(one))}};
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
