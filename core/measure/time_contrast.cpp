#include "core/measure/time_contrast.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/measure/case_values.hpp"
#include "core/measure/format.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::measure {
namespace {

using model::CaseReport;

constexpr double same_time = 0.05;  // the default threshold for times

struct TimeMetric {
    std::string_view metric;
    std::string_view noun;
};
constexpr std::array<TimeMetric, 2> time_metrics{{{"time_per_op", "time per array"}, {"wall_time", "time"}}};

bool includes_one(const Shift& ratio)
{
    return ratio.interval && (*ratio.interval)[0] <= 1 && (*ratio.interval)[1] >= 1;
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

struct FaultShare {
    double extra_faults{};  // per array
    double fault_cost{};    // seconds
    double share{};         // of the extra time
};

std::optional<FaultShare> fault_share(const CaseReport& base, const CaseReport& other)
{
    const auto from = case_median(base, {}, "time_per_op");
    const auto to = case_median(other, {}, "time_per_op");
    const auto faults_from = case_median(base, {}, "faults_per_op");
    const auto faults_to = case_median(other, {}, "faults_per_op");
    const auto cost = case_median(other, {}, "fault_cost");
    if (!from || !to || !faults_from || !faults_to || !cost || *to <= *from) {
        return std::nullopt;
    }
    const double extra = *faults_to - *faults_from;
    return FaultShare{extra, *cost, extra * *cost / (*to - *from)};
}

std::string share_text(const FaultShare& faults)
{
    const std::string detail =
        fmt::format("{} more faults per array at {} each", format_value(model::Unit::one, faults.extra_faults),
                    format_value(model::Unit::seconds, faults.fault_cost));
    if (faults.share < 0.005) {
        return "page faults explain none of the extra time";
    }
    // The cost of a fault is measured beside the case, not in it, so more than all is no contradiction.
    return faults.share <= 1.005
               ? fmt::format("page faults explain {:.0f} % of the extra time ({})", faults.share * 100, detail)
               : fmt::format("page faults explain all of the extra time ({} make {:.0f} % of it)", detail,
                             faults.share * 100);
}

}  // namespace

std::optional<TimeContrast> time_contrast(const CaseReport& base, const CaseReport& other)
{
    for (const auto& [metric, noun] : time_metrics) {
        const std::vector<double> from = present(case_values(base, {}, metric));
        const std::vector<double> to = present(case_values(other, {}, metric));
        if (!from.empty() && !to.empty()) {
            const Shift shift = hodges_lehmann(from, to);
            return shift.is_ratio ? std::optional{TimeContrast{noun, shift}} : std::nullopt;
        }
    }
    return std::nullopt;
}

std::string time_part(const TimeContrast& time, std::string_view base_name)
{
    const std::string factor = format_factor(time.ratio.estimate);
    const std::string interval = interval_text(time.ratio);
    if (!includes_one(time.ratio)) {
        return fmt::format("{}x the {} of {} ({})", factor, time.noun, base_name, interval);
    }
    return near_one(time.ratio)
               ? fmt::format("the same {} as {} ({}x, {})", time.noun, base_name, factor, interval)
               : fmt::format("no difference in {} from {} shown ({}x, {})", time.noun, base_name, factor, interval);
}

std::string fault_part(const TimeContrast& time, const CaseReport& base, const CaseReport& other)
{
    const bool slower = time.ratio.estimate > 1 && !includes_one(time.ratio);
    const auto faults = slower ? fault_share(base, other) : std::nullopt;
    return faults ? share_text(*faults) : std::string{};
}

}  // namespace memsweep::measure
