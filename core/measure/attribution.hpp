// Where the extra time of one case over another went: page faults, calls into the allocator, waiting for a collector or
// a finalizer, waiting for a processor, and what none of them explains.
//
// Units    seconds: per operation where both cases have time_per_op, else over their timed steps.
// Sources  medians over the repetitions of their wall time, shared out among the operations: the mean, so that it and
//          its parts are of the same operations even where time_per_op is a median of calls, few of which fault.
//          Faults: their number by kind times what a fault of that kind cost beside the case (fault_time); calls and
//          waits: measured. A part is the difference between the two cases.
// Errors   empty where a case has no times, or the other one took no longer.
#pragma once

#include <optional>
#include <string>

#include "core/model/report.hpp"

namespace memsweep::measure {

struct Attribution {
    bool per_operation{};
    model::OperationKind operation{};
    double extra{};  // what is to be explained
    double faults{};
    std::optional<double> allocator;  // empty: not measured, so it is part of what is unexplained
    std::optional<double> waiting;
    std::optional<double> run_delay;
    double unexplained{};   // negative: the parts make more than there is
    double explained{};     // share of `extra` in the parts
    double extra_faults{};  // their number, whose difference in time `faults` is
};

[[nodiscard]] std::optional<Attribution> attribute(const model::CaseReport& base, const model::CaseReport& other);

// "page faults explain 81 % of the extra time (1,953 more faults per array at 800.0 ns each), calls into the allocator
// 12 %, waiting for the collector 3 %; 4 % is unexplained"
[[nodiscard]] std::string cause_text(const Attribution& attribution);

// The same of two cases; empty when there is nothing to attribute.
[[nodiscard]] std::string cause_of(const model::CaseReport& base, const model::CaseReport& other);

}  // namespace memsweep::measure
