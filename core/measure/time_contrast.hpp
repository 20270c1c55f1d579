// Says how much longer one case takes than another, and where the extra time went.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/measure/statistics.hpp"
#include "core/measure/threshold.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct TimeContrast {
    std::string_view metric;            // time_per_op, else wall_time
    model::CountedOperation operation;  // for time_per_op: what one takes
    Shift ratio;                        // other / base
};

// Whether a metric is the time of the case as a whole.
[[nodiscard]] bool is_time(std::string_view metric);

// The Hodges-Lehmann ratio of time_per_op, else of wall_time. Empty if either case has no times, or a time of 0.
[[nodiscard]] std::optional<TimeContrast> time_contrast(const model::CaseReport& base, const model::CaseReport& other);

// Whether the interval includes 1, that is, no difference.
[[nodiscard]] bool includes_one(const Shift& ratio);

// True when `other` is shown to be slower.
[[nodiscard]] bool is_slower(const TimeContrast& time);

// The parts of the extra time of one case over another: page faults, calls into the allocator, waiting for a collector
// or a finalizer, waiting for a processor, and the rest that none of these explains. Each part is the difference
// between the two cases.
//
// Units    seconds: per operation where both cases have time_per_op, else over their timed steps.
// Sources  the median over the repetitions of the wall time, divided by the operations. That is a mean, while
//          time_per_op may be a median of calls, few of which fault. So the time and its parts are of the same
//          operations. Faults: their number by kind times the cost of a fault of that kind, measured beside the case
//          (fault_time). Calls and waits are measured.
struct Attribution {
    bool per_operation{};
    model::CountedOperation operation{};
    double extra{};  // what is to be explained
    double faults{};
    std::optional<double> allocator;  // empty: not measured, so it is part of what is unexplained
    std::optional<double> waiting;
    std::optional<double> run_delay;
    double unexplained{};   // negative: the parts make more than there is
    double explained{};     // share of `extra` in the parts
    double extra_faults{};  // their number
    // The average price of one fault; 0: not known. `faults` is the difference of price times number.
    double base_fault_price{};
    double fault_price{};
};

// Empty if a case has no times, or if the other one took no longer.
[[nodiscard]] std::optional<Attribution> attribute(const model::CaseReport& base, const model::CaseReport& other);

// The parts are measured one by one. If they add up to more than this share, they do not split the extra time.
inline constexpr double most_explained = 1.2;

// The time that the load of the machine added to a case, compared with the same case on a quieter machine. The parts
// are waiting for a processor, and a higher price of the same page faults.
//
// Units    seconds: per operation for time_per_op and call_time_mean, else over the timed steps.
// Sources  differences of medians over the repetitions. The price of faults is what the slower case's faults cost, less
//          what they would have cost at the other case's fault_cost. The number of faults takes no part, because more
//          faults are the case's doing.
struct MachineContrast {
    double extra{};         // slower - faster, of the metric
    double run_delay{};     // 0: it was not measured, or takes no part in the metric
    double fault_price{};   // never negative
    double price_before{};  // fault_cost of the faster case; 0: unknown
    double price_after{};
    std::optional<double> wall_left;  // for a time per operation: the rest of its mean, as a share of the faster one
};

// Empty if the metric is no time of the program's thread as a whole (latencies, fastest calls), or if neither part
// grew.
[[nodiscard]] std::optional<MachineContrast> machine_contrast(const model::CaseReport& faster,
                                                              const model::CaseReport& slower, std::string_view metric);

// True if the rest of the extra time, without the machine's part, is within the threshold. `base`: the value that the
// threshold refers to.
[[nodiscard]] bool machine_explains(const MachineContrast& machine, const Threshold& threshold, double base);

}  // namespace memsweep::measure
