// Computes how much longer one case takes than another, and what the extra time was spent on.
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
    model::CountedOperation operation;  // what one operation of time_per_op is
    Shift ratio;                        // other / base
};

// Whether a metric is the time of the case as a whole.
[[nodiscard]] bool is_time(std::string_view metric);

// Returns the Hodges-Lehmann ratio of time_per_op, or of wall_time if a case has no time_per_op. Returns nullopt if a
// case has no times, or a time of 0.
[[nodiscard]] std::optional<TimeContrast> time_contrast(const model::CaseReport& base, const model::CaseReport& other);

// Whether the interval includes 1, which means no difference.
[[nodiscard]] bool includes_one(const Shift& ratio);

// Whether `other` is slower and the interval excludes 1.
[[nodiscard]] bool is_slower(const TimeContrast& time);

// The extra time that one case takes compared with another, split into parts. The parts are page faults, calls into the
// allocator, waiting for a collector or a finalizer, waiting for a processor, and the unexplained rest. Each part is
// the difference between the two cases.
//
// Units    seconds, per operation if both cases have time_per_op, else for all timed steps.
// Sources  Extra time: the difference of the median wall times. If it is per operation, each median is first divided by
//          the number of operations of its case. The metric time_per_op is not used, because it may be the median of
//          calls of which only a few fault.
//          Faults: the metric fault_time. For each kind of fault, it adds the number of faults times the price of one
//          fault, which was measured beside the case.
//          Calls and waits: measured.
struct Attribution {
    bool per_operation{};
    model::CountedOperation operation{};
    double extra{};  // the extra time, which the parts below explain
    double faults{};
    // The next three are empty if they were not measured; `unexplained` then includes them.
    std::optional<double> allocator;  // calls into the allocator
    std::optional<double> waiting;    // waiting for a collector or a finalizer
    std::optional<double> run_delay;  // waiting for a processor
    double unexplained{};             // negative if the parts add up to more than `extra`
    double explained{};               // the parts as a share of `extra`
    double extra_faults{};            // the difference in the number of faults
    // The average time of one fault, in the base and in the other case; 0: not known. `faults` = fault_price x faults
    // of the other case - base_fault_price x faults of the base.
    double base_fault_price{};
    double fault_price{};
};

// Returns nullopt if a case has no times or no page-fault counts, or if the other case did not take longer.
[[nodiscard]] std::optional<Attribution> attribute(const model::CaseReport& base, const model::CaseReport& other);

// The parts are measured independently. If they add up to more than this share of the extra time, the split is invalid.
inline constexpr double most_explained = 1.2;

// The time that other load on the machine added to a case, compared with the same case under less load. It has two
// parts: waiting for a processor, and the higher price of the same page faults.
//
// Units    seconds, per operation for time_per_op and call_time_mean, else for all timed steps.
// Sources  differences of medians over the repetitions. The price of faults: what the slower case's faults cost, less
//          what they would cost at the faster case's fault_cost. Additional faults are left out, because the case
//          causes them, not the machine.
struct MachineContrast {
    double extra{};         // the slower case's value of the metric less the faster one's
    double run_delay{};     // 0 if it was not measured, or if the metric does not include waiting
    double fault_price{};   // never negative
    double price_before{};  // fault_cost of the faster case; 0: unknown
    double price_after{};   // fault_cost of the slower case; 0: unknown
    // The extra mean wall time that the two parts do not explain, as a share of the faster case's mean wall time. Only
    // for a time per operation, else empty.
    std::optional<double> wall_left;
};

// Returns nullopt if neither part grew, or if the metric is neither call_time_max nor a time of the program's thread as
// a whole. For example, a latency or the time of the fastest call is no such time.
[[nodiscard]] std::optional<MachineContrast> machine_contrast(const model::CaseReport& faster,
                                                              const model::CaseReport& slower, std::string_view metric);

// Whether the extra time without the machine's two parts is within the threshold. The relative part of the threshold is
// a share of `base`.
[[nodiscard]] bool machine_explains(const MachineContrast& machine, const Threshold& threshold, double base);

}  // namespace memsweep::measure
