// How much longer one case takes than another, as a part of a sentence.
//
// Units    factors are other / base.
// Sources  time_per_op, else wall_time: Hodges-Lehmann ratio.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/measure/hodges_lehmann.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct TimeContrast {
    std::string noun;  // "time per array", "time per call" or "time"
    Shift ratio;
};

// Empty when either case has no times, or a time of 0.
[[nodiscard]] std::optional<TimeContrast> time_contrast(const model::CaseReport& base, const model::CaseReport& other);

// "7.2x the time per array of refcount (95 % interval 6.8 to 7.6)", or that no difference was shown.
[[nodiscard]] std::string time_part(const TimeContrast& time, std::string_view base_name);

// Whether `other` is shown to be slower.
[[nodiscard]] bool is_slower(const TimeContrast& time);

}  // namespace memsweep::measure
