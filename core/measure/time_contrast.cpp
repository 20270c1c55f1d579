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

constexpr std::array<std::string_view, 2> time_metrics{"time_per_op", "wall_time"};

std::string noun_of(std::string_view metric, const CaseReport& report)
{
    return metric == "wall_time" ? "time" : fmt::format("time per {}", model::name_of(report.operation));
}

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

}  // namespace

std::optional<TimeContrast> time_contrast(const CaseReport& base, const CaseReport& other)
{
    for (const std::string_view metric : time_metrics) {
        const std::vector<double> from = present(case_values(base, {}, metric));
        const std::vector<double> to = present(case_values(other, {}, metric));
        if (!from.empty() && !to.empty()) {
            const Shift shift = hodges_lehmann(from, to);
            return shift.is_ratio ? std::optional{TimeContrast{noun_of(metric, other), shift}} : std::nullopt;
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

bool is_slower(const TimeContrast& time)
{
    return time.ratio.estimate > 1 && !includes_one(time.ratio);
}

}  // namespace memsweep::measure
