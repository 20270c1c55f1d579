#include "core/measure/time_contrast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/measure/cases.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

std::optional<double> difference(const CaseReport& base, const CaseReport& other, std::string_view metric)
{
    const auto from = case_median(base, {}, metric);
    const auto to = case_median(other, {}, metric);
    return from && to ? std::optional{*to - *from} : std::nullopt;
}

// What is counted over the timed steps, or the part of it that one operation takes.
std::optional<double> each(const CaseReport& report, std::string_view metric, bool per_operation)
{
    const auto total = case_median(report, {}, metric);
    if (!per_operation || !total) {
        return total;
    }
    const auto operations = case_median(report, {}, model::metrics::operations);
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
    double base_price{};
    double price{};
};

// What one fault costs on average; 0 where there are none.
double fault_price(const CaseReport& report, std::string_view count_metric, bool per_operation)
{
    const double count = case_median(report, {}, count_metric).value_or(0);
    return count > 0 ? each(report, model::metrics::fault_time, per_operation).value_or(0) / count : 0;
}

// Results of earlier versions know one kind of fault only.
std::optional<Faults> faults(const CaseReport& base, const CaseReport& other, bool per_operation)
{
    const std::string_view count_metric = per_operation ? model::metrics::faults_per_op : model::metrics::minor_faults;
    const auto count = difference(base, other, count_metric);
    if (!count) {
        return std::nullopt;
    }
    if (const auto seconds = part(base, other, model::metrics::fault_time, per_operation)) {
        return Faults{*seconds, *count, fault_price(base, count_metric, per_operation),
                      fault_price(other, count_metric, per_operation)};
    }
    const auto cost = case_median(other, {}, model::metrics::fault_cost);
    return cost ? std::optional{Faults{*count * *cost, *count}} : std::nullopt;
}

// Times of the program as a whole, which a busy machine lengthens by as much as the thread waited. Of the slowest call
// it is not known how much of the waiting it had, only that it may have been all.
struct MachineTime {
    std::string_view metric;
    bool per_operation{};
    bool waits{};  // false: the time on a processor, which waiting is no part of
};
constexpr std::array<MachineTime, 5> machine_times{{{model::metrics::wall_time, false, true},
                                                    {model::metrics::cpu_time, false, false},
                                                    {model::metrics::time_per_op, true, true},
                                                    {model::metrics::call_time_mean, true, true},
                                                    {model::metrics::call_time_max, false, true}}};

// Bounded by what all the faults cost, since fault_cost is the price of a base page and some may be of other kinds.
double dearer_faults(const CaseReport& slower, const MachineContrast& prices, bool per_operation)
{
    const auto count = each(slower, model::metrics::minor_faults, per_operation);
    const auto seconds = each(slower, model::metrics::fault_time, per_operation);
    if (!count || prices.price_before <= 0 || prices.price_after <= prices.price_before) {
        return 0;
    }
    const double dearer = *count * (prices.price_after - prices.price_before);
    return seconds ? std::min(dearer, *seconds * (1 - prices.price_before / prices.price_after)) : dearer;
}

}  // namespace

bool is_time(std::string_view metric)
{
    return model::shown_of(metric).at == model::ShownAt::time;
}

std::optional<TimeContrast> time_contrast(const CaseReport& base, const CaseReport& other)
{
    for (const model::MetricInfo* metric : model::shown_at({model::ShownAt::time})) {
        if (const auto shift = case_shift(base, other, metric->name)) {
            return shift->is_ratio ? std::optional{TimeContrast{metric->name, other.operation, *shift}} : std::nullopt;
        }
    }
    return std::nullopt;
}

bool includes_one(const Shift& ratio)
{
    return ratio.interval && (*ratio.interval)[0] <= 1 && (*ratio.interval)[1] >= 1;
}

bool is_slower(const TimeContrast& time)
{
    return time.ratio.estimate > 1 && !includes_one(time.ratio);
}

std::optional<Attribution> attribute(const CaseReport& base, const CaseReport& other)
{
    const bool per_operation = difference(base, other, model::metrics::time_per_op).has_value();
    auto extra = part(base, other, model::metrics::wall_time, per_operation);
    if (!extra && per_operation) {
        extra = difference(base, other,
                           model::metrics::time_per_op);  // results of earlier versions do not count operations
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
                       .extra_faults = found->count,
                       .base_fault_price = found->base_price,
                       .fault_price = found->price};
    result.allocator = part(base, other, model::metrics::allocator_time, result.per_operation);
    result.waiting = part(base, other, model::metrics::collector_wait_time, result.per_operation);
    result.run_delay = part(base, other, model::metrics::run_delay_time, result.per_operation);
    result.unexplained = result.extra - result.faults - result.allocator.value_or(0) - result.waiting.value_or(0) -
                         result.run_delay.value_or(0);
    result.explained = 1 - result.unexplained / result.extra;
    return result;
}

std::optional<MachineContrast> machine_contrast(const CaseReport& faster, const CaseReport& slower,
                                                std::string_view metric)
{
    const auto* const judged = std::ranges::find(machine_times, metric, &MachineTime::metric);
    const auto extra = difference(faster, slower, metric);
    if (judged == machine_times.end() || !extra) {
        return std::nullopt;
    }
    MachineContrast result{.extra = *extra};
    const bool per_operation = judged->per_operation;
    if (judged->waits) {
        const auto before = each(faster, model::metrics::run_delay_time, per_operation);
        const auto after = each(slower, model::metrics::run_delay_time, per_operation);
        result.run_delay = before && after ? std::max(*after - *before, 0.0) : 0;
    }
    result.price_before = case_median(faster, {}, model::metrics::fault_cost).value_or(0);
    result.price_after = case_median(slower, {}, model::metrics::fault_cost).value_or(0);
    result.fault_price = dearer_faults(slower, result, per_operation);
    if (result.run_delay <= 0 && result.fault_price <= 0) {
        return std::nullopt;
    }
    if (per_operation) {
        const auto before = each(faster, model::metrics::wall_time, true);
        const auto after = each(slower, model::metrics::wall_time, true);
        if (before && after && *before > 0) {
            result.wall_left = (*after - *before - result.run_delay - result.fault_price) / *before;
        }
    }
    return result;
}

bool machine_explains(const MachineContrast& machine, const Threshold& threshold, double base)
{
    const auto within = [&](double left) { return left <= 0 || !beyond(threshold, base, left); };
    return within(machine.extra - machine.run_delay - machine.fault_price) &&
           within(machine.wall_left.value_or(0) * base);
}

}  // namespace memsweep::measure
