#include "reporters/wording/time_words.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/measure/format.hpp"
#include "core/model/metric_id.hpp"

namespace memsweep::reporters {
namespace {

using measure::Attribution;
using measure::format_factor;
using measure::format_value;
using measure::Shift;
using measure::whole_percent;

constexpr double same_time = 0.05;   // the default threshold for times
constexpr double min_share = 0.005;  // what is shown as 0 %

std::string noun_of(const measure::TimeContrast& time)
{
    return time.metric == model::metrics::wall_time ? "time"
                                                    : fmt::format("time per {}", model::name_of(time.operation));
}

bool near_one(const Shift& ratio)
{
    return ratio.interval && (*ratio.interval)[0] >= 1 - same_time && (*ratio.interval)[1] <= 1 + same_time;
}

std::string interval_text(const Shift& ratio)
{
    return ratio.interval ? fmt::format("95 % interval {} to {}", format_factor((*ratio.interval)[0]),
                                        format_factor((*ratio.interval)[1]))
                          : std::string{"too few repetitions for an interval"};
}

// Not their number makes most of the difference, but what each took.
bool are_dearer(const Attribution& attribution)
{
    return attribution.base_fault_price > 0 && attribution.fault_price > attribution.base_fault_price &&
           attribution.extra_faults * attribution.fault_price < attribution.faults / 2;
}

std::string faults_text(const Attribution& attribution)
{
    const double share = attribution.faults / attribution.extra;
    const bool dearer = are_dearer(attribution);
    if (share < min_share || (attribution.extra_faults <= 0 && !dearer)) {
        return "page faults explain none of the extra time";
    }
    const auto seconds = [](double value) { return format_value(model::Unit::seconds, value); };
    const std::string detail =
        dearer ? fmt::format("each took {} instead of {}", seconds(attribution.fault_price),
                             seconds(attribution.base_fault_price))
               : fmt::format("{} more faults{} at {} each", format_value(model::Unit::one, attribution.extra_faults),
                             attribution.per_operation ? fmt::format(" per {}", model::name_of(attribution.operation))
                                                       : "",
                             seconds(attribution.faults / attribution.extra_faults));
    // The cost of a fault is measured beside the case, not in it, so a little more than all is no contradiction.
    return share <= 1 + min_share
               ? fmt::format("page faults explain {} of the extra time ({})", whole_percent(share), detail)
               : fmt::format("page faults explain all of the extra time ({} come to {} of it)", detail,
                             whole_percent(share));
}

// As a share, unless other parts make up for it: then a share would be negative or more than all.
std::string part_text(const std::optional<double>& seconds, double extra, std::string_view what)
{
    if (!seconds || std::fabs(*seconds) < min_share * extra) {
        return {};
    }
    if (*seconds >= 0 && *seconds <= extra * (1 + min_share)) {
        return fmt::format(", {} {}", what, whole_percent(*seconds / extra));
    }
    return fmt::format(", {} took {} {}", what, format_value(model::Unit::seconds, std::fabs(*seconds)),
                       *seconds < 0 ? "less" : "more");
}

std::string rest_text(const Attribution& attribution)
{
    const double share = attribution.unexplained / attribution.extra;
    if (share > 1 + min_share) {
        return "; all of it is unexplained";  // and what other parts took less
    }
    if (share >= min_share) {
        return fmt::format("; {} is unexplained", whole_percent(share));
    }
    if (share >= -min_share) {
        return "; nothing is left unexplained";
    }
    const bool said = attribution.faults > attribution.extra * (1 + min_share);
    return said ? std::string{}
                : fmt::format("; nothing is left unexplained (the parts are measured one by one and add up to {})",
                              whole_percent(attribution.explained));
}

}  // namespace

std::string time_part(const measure::TimeContrast& time, std::string_view base_name)
{
    const std::string factor = format_factor(time.ratio.estimate);
    const std::string interval = interval_text(time.ratio);
    const std::string noun = noun_of(time);
    if (!measure::includes_one(time.ratio)) {
        return fmt::format("{}x the {} of {} ({})", factor, noun, base_name, interval);
    }
    const std::string around = factor == format_factor(1) ? interval : fmt::format("{}x, {}", factor, interval);
    return near_one(time.ratio) ? fmt::format("the same {} as {} ({})", noun, base_name, around)
                                : fmt::format("{} is not shown to differ from {}'s ({})", noun, base_name, around);
}

std::string cause_text(const Attribution& attribution)
{
    if (attribution.explained > measure::most_explained) {
        return fmt::format("the machine was too busy to split the extra time: its parts, measured one by one, add up "
                           "to {} of it",
                           whole_percent(attribution.explained));
    }
    return faults_text(attribution) + part_text(attribution.allocator, attribution.extra, "calls into the allocator") +
           part_text(attribution.waiting, attribution.extra, "waiting for the collector") +
           part_text(attribution.run_delay, attribution.extra, "waiting for a processor") + rest_text(attribution);
}

}  // namespace memsweep::reporters
