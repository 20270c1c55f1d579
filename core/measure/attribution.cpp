#include "core/measure/attribution.hpp"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/measure/case_values.hpp"
#include "core/measure/format.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr double least_share = 0.005;  // what is shown as 0 %

std::optional<double> difference(const CaseReport& base, const CaseReport& other, std::string_view metric)
{
    const auto from = case_median(base, {}, metric);
    const auto to = case_median(other, {}, metric);
    return from && to ? std::optional{*to - *from} : std::nullopt;
}

// Of what is counted over the timed steps, the part of one operation.
std::optional<double> each(const CaseReport& report, std::string_view metric, bool per_operation)
{
    const auto total = case_median(report, {}, metric);
    if (!per_operation || !total) {
        return total;
    }
    const auto operations = case_median(report, {}, "operations");
    return operations && *operations > 0 ? std::optional{*total / *operations} : std::nullopt;
}

std::optional<double> part(const CaseReport& base, const CaseReport& other, std::string_view metric, bool per_operation)
{
    const auto from = each(base, metric, per_operation);
    const auto to = each(other, metric, per_operation);
    if (!to) {
        return std::nullopt;
    }
    return *to - from.value_or(0);  // a case without collector waits for none
}

struct Faults {
    double seconds{};
    double count{};
};

// Results of earlier versions know one kind of fault only.
std::optional<Faults> faults(const CaseReport& base, const CaseReport& other, bool per_operation)
{
    const auto count = difference(base, other, per_operation ? "faults_per_op" : "minor_faults");
    if (!count) {
        return std::nullopt;
    }
    if (const auto seconds = part(base, other, "fault_time", per_operation)) {
        return Faults{*seconds, *count};
    }
    const auto cost = case_median(other, {}, "fault_cost");
    return cost ? std::optional{Faults{*count * *cost, *count}} : std::nullopt;
}

std::string percent(double share)
{
    return fmt::format("{:.0f} %", share * 100);
}

std::string faults_text(const Attribution& attribution)
{
    const double share = attribution.faults / attribution.extra;
    if (share < least_share || attribution.extra_faults <= 0) {
        return "page faults explain none of the extra time";
    }
    const std::string detail =
        fmt::format("{} more faults{} at {} each", format_value(model::Unit::one, attribution.extra_faults),
                    attribution.per_operation ? fmt::format(" per {}", model::name_of(attribution.operation)) : "",
                    format_value(model::Unit::seconds, attribution.faults / attribution.extra_faults));
    // The cost of a fault is measured beside the case, not in it, so more than all is no contradiction.
    return share <= 1 + least_share
               ? fmt::format("page faults explain {} of the extra time ({})", percent(share), detail)
               : fmt::format("page faults explain all of the extra time ({} make {} of it)", detail, percent(share));
}

std::string part_text(const std::optional<double>& seconds, double extra, std::string_view what)
{
    const bool shown = seconds && std::fabs(*seconds) >= least_share * extra;
    return shown ? fmt::format(", {} {}", what, percent(*seconds / extra)) : std::string{};
}

std::string rest_text(const Attribution& attribution)
{
    const double share = attribution.unexplained / attribution.extra;
    if (share < -least_share) {
        const bool said = attribution.faults > attribution.extra * (1 + least_share);
        return said ? std::string{}
                    : fmt::format("; nothing is unexplained, the parts make {} of it", percent(attribution.explained));
    }
    return fmt::format("; {} is unexplained", percent(std::fabs(share)));
}

}  // namespace

std::optional<Attribution> attribute(const CaseReport& base, const CaseReport& other)
{
    const bool per_operation = difference(base, other, "time_per_op").has_value();
    auto extra = part(base, other, "wall_time", per_operation);
    if (!extra && per_operation) {
        extra = difference(base, other, "time_per_op");  // results of earlier versions do not count operations
    }
    if (!extra || *extra <= 0) {
        return std::nullopt;
    }
    const auto found = faults(base, other, per_operation);
    if (!found) {
        return std::nullopt;
    }
    Attribution result{.per_operation = per_operation,
                       .operation = other.operation,
                       .extra = *extra,
                       .faults = found->seconds,
                       .extra_faults = found->count};
    result.allocator = part(base, other, "allocator_time", result.per_operation);
    result.waiting = part(base, other, "collector_wait_time", result.per_operation);
    result.run_delay = part(base, other, "run_delay_time", result.per_operation);
    result.unexplained = result.extra - result.faults - result.allocator.value_or(0) - result.waiting.value_or(0) -
                         result.run_delay.value_or(0);
    result.explained = 1 - result.unexplained / result.extra;
    return result;
}

std::string cause_of(const CaseReport& base, const CaseReport& other)
{
    const auto attribution = attribute(base, other);
    return attribution ? cause_text(*attribution) : std::string{};
}

std::string cause_text(const Attribution& attribution)
{
    return faults_text(attribution) + part_text(attribution.allocator, attribution.extra, "calls into the allocator") +
           part_text(attribution.waiting, attribution.extra, "waiting for the collector") +
           part_text(attribution.run_delay, attribution.extra, "waiting for a processor") + rest_text(attribution);
}

}  // namespace memsweep::measure
