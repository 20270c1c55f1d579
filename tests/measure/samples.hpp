// Random samples for property tests, and case reports built by hand.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.hpp"
#include "core/model/report.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::measure {

// Repetitions of something that takes `median` seconds, with lognormal noise, as timings are skewed to the right.
inline std::vector<double> noisy_sample(base::Rng& rng, std::size_t n, double median, double noise)
{
    const auto uniform = [&] { return (static_cast<double>(rng.next() >> 11) + 0.5) * 0x1p-53; };
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
        values.push_back(median * std::exp(noise * normal));
    }
    return values;
}

// Ten repetitions with little noise.
inline const std::vector<double> ten{1.00, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985, 1.001};

inline std::vector<double> scaled(std::vector<double> values, double factor)
{
    std::ranges::transform(values, values.begin(), [&](double value) { return value * factor; });
    return values;
}

inline std::vector<std::optional<double>> optionals(const std::vector<double>& values)
{
    return {values.begin(), values.end()};
}

// A metric as the catalogue describes it; one that is not there counts as noisy seconds.
inline model::Metric metric(std::string name, const std::vector<double>& values)
{
    model::Metric made;
    const model::MetricInfo* info = model::find_metric(model::metric_catalog(), name);
    made.unit = info != nullptr ? info->unit : model::Unit::seconds;
    made.better = info != nullptr ? info->better : model::Better::lower;
    made.metric_class = info != nullptr ? info->metric_class : model::MetricClass::noisy;
    made.name = std::move(name);
    made.values = optionals(values);
    return made;
}

inline model::CaseReport case_report(const std::vector<std::pair<std::string, std::string>>& params,
                                     std::vector<model::Metric> metrics, model::Status status = model::Status::ok)
{
    model::CaseReport report;
    report.scenario = "demo";
    for (const auto& [name, value] : params) {
        report.params.push_back({name, value});
    }
    report.id = model::case_id(report.scenario, report.params);
    report.metrics = std::move(metrics);
    report.status = status;
    return report;
}

inline model::Point point(std::uint32_t repetition, std::string name)
{
    model::Point made;
    made.repetition = repetition;
    made.name = std::move(name);
    return made;
}

}  // namespace memsweep::measure
