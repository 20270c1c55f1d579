#include "reporters/ci/fleet_csv.hpp"

#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "reporters/text/csv_text.hpp"

namespace memsweep::reporters {
namespace {

std::optional<double> finite(double value)
{
    return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

}  // namespace

void write_csv(const FleetReport& report, TextSink& sink)
{
    const model::Fleet& fleet = *report.fleet;
    std::unordered_map<std::size_t, const measure::Outlier*> outliers;  // by metric and host
    for (const measure::Outlier& outlier : report.judgement.outliers) {
        outliers.emplace(outlier.metric * fleet.hosts.size() + outlier.host, &outlier);
    }
    sink.add("host,scenario,case,metric,unit,better,n,median,mad,z,q,verdict\r\n");
    for (std::size_t i = 0; i < fleet.metrics.size(); ++i) {
        const model::FleetMetric& metric = fleet.metrics[i];
        const std::string about =
            fmt::format("{},{},{},{},{}", csv_field(metric.scenario), csv_field(metric.case_id), csv_field(metric.name),
                        csv_field(model::name_of(metric.unit)), csv_field(model::name_of(metric.better)));
        for (std::size_t host = 0; host < fleet.hosts.size(); ++host) {
            if (metric.n[host] == 0) {
                continue;
            }
            const auto found = outliers.find(i * fleet.hosts.size() + host);
            const measure::Outlier* outlier = found == outliers.end() ? nullptr : found->second;
            sink.print("{},{},{},{},{},{},{},{}\r\n", csv_field(fleet.hosts[host].name), about, metric.n[host],
                       csv_number(finite(metric.median[host])), csv_number(finite(metric.mad[host])),
                       outlier == nullptr ? "" : csv_number(outlier->z),
                       outlier == nullptr ? "" : csv_number(outlier->q),
                       outlier == nullptr  ? ""
                       : outlier->is_worse ? "worse"
                                           : "better");
        }
    }
}

}  // namespace memsweep::reporters
