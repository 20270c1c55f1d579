// How much longer one case takes than another, and how much of that its page faults explain, as parts of a sentence.
//
// Units    factors are other / base; fault costs in seconds.
// Sources  time_per_op, else wall_time: Hodges-Lehmann ratio; faults: the difference of the medians of faults_per_op,
//          times fault_cost, which was measured beside the case on the same machine.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/measure/hodges_lehmann.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct TimeContrast {
    std::string_view noun;  // "time per array" or "time"
    Shift ratio;
};

// Empty when either case has no times, or a time of 0.
[[nodiscard]] std::optional<TimeContrast> time_contrast(const model::CaseReport& base, const model::CaseReport& other);

// "7.2x the time per array of refcount (95 % interval 6.8 to 7.6)", or that no difference was shown.
[[nodiscard]] std::string time_part(const TimeContrast& time, std::string_view base_name);

// "page faults explain 81 % of the extra time (1,953 more faults per array at 800.0 ns each)"; empty when `other` is
// not shown to be slower, or when a metric is absent.
[[nodiscard]] std::string fault_part(const TimeContrast& time, const model::CaseReport& base,
                                     const model::CaseReport& other);

}  // namespace memsweep::measure
