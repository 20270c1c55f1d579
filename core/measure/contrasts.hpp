// The cost of one choice compared with another: release modes with refcount, trims with no trim, copies with views.
//
// Errors   none: if a metric was not measured, the part of the contrast that needs it is left out. If all parts
//          are left out, the case has no contrast.
// Ownership  contrasts point into the cases that they were made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/statistics.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/measure/verdict.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Memory that a case still holds after the program dropped it.
//
// Units    bytes, seconds; points by their names.
// Sources  floating_bytes at the sampled points (exact). If no point has floating_bytes: working_set_delta minus that
//          of the base at the same point, if this difference is 1 MiB or more. If there are no points:
//          floating_bytes_peak.
struct Held {
    struct Sample {
        std::string point;  // empty: the value is floating_bytes_peak
        double bytes{};
    };
    Sample first, last;
    bool is_above_base{};
    // The resident part of `first.bytes`. Given only if less than half of these bytes is resident, that is, if most of
    // this memory was never written; else nullopt.
    std::optional<double> resident_bytes;
    std::string released_at;  // the first point after `last` at which nothing is held; empty: there is no such point
    std::optional<double> drain_seconds;
};

// Returns what `other` still holds after it dropped the memory; nullopt: it holds nothing. `base` is the case to
// compare with.
[[nodiscard]] std::optional<Held> held(const model::CaseReport& base, const model::CaseReport& other);

struct CaseContrast {
    std::string_view axis;  // the only parameter in which the two cases differ
    const model::CaseReport* base{};
    const model::CaseReport* other{};
    // Names that distinguish the two cases: "refcount", "finalizer (size=1024)", "trim soft".
    std::string base_name, name;
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;  // of the extra time; nullopt: `other` is not shown to be slower
    std::optional<Held> held;
    // working_set_peak, else live_bytes_peak; nullopt: the two cases do not differ in it.
    std::optional<MetricEffect> peak;
};

// Compares each case with status ok with a counterpart that differs from it only on one axis. The contrasts of the axis
// `mode` come first; the counterpart is refcount if the group has it, else the group's first case. Then come the
// contrasts of `trim` (the counterpart is `none`) and of `copy` (`false`).
[[nodiscard]] std::vector<CaseContrast> case_contrasts(std::span<const model::CaseReport> cases);

// The cost of sharing a worker. The time and page faults of a case inside a sweep are compared with those of the same
// case alone. Also says how long each additional fault took.
//
// Units    times and faults per call, array or repetition, whichever the case has; medians over the repetitions.
// Sources  the ratio: Hodges-Lehmann, inside the sweep / alone. Time per fault: the difference of the times divided by
//          the difference of the faults. So it includes the time of everything else that differs. It is absent if the
//          two differences have different signs.
// Errors   none: what cannot be computed is absent, with a reason.
// Ownership  contrasts point into the cases that they were made from.

struct PlacedTime {
    std::optional<double> seconds;
    std::optional<double> faults;
};

// Why a contrast lacks the ratio or the time per fault.
enum class NoPrice : std::uint8_t { none, not_measured, faults_alike, more_faults_alone, fewer_faults_alone };

struct PlacementContrast {
    const model::CaseReport* alone{};
    const model::CaseReport* placed{};  // in a sweep
    std::string_view metric;            // the metric that `ratio` is about
    PlacedTime time_alone;
    PlacedTime time_placed;
    std::optional<Shift> ratio;
    std::optional<double> seconds_per_fault;
    NoPrice without{};
    const model::CaseReport* unmeasured{};  // for NoPrice::not_measured: the case without a time
};

// Returns one contrast for each case of a sweep that was also measured alone, in the order in which the sweeps have the
// cases.
[[nodiscard]] std::vector<PlacementContrast> placement_contrasts(std::span<const model::CaseReport* const> cases);

// A summary of the contrasts of one mode and placement.
struct PlacementCost {
    std::string mode;  // empty: the cases have none
    bool is_drained{};
    std::size_t count{};
    double mean{};                  // geometric mean of the ratios
    PlacementContrast least, most;  // the contrasts with the lowest and the highest ratio
    // Of the extra time in `most`; nullopt: the sweep is not shown to slow this case down.
    std::optional<Attribution> excess;
};
[[nodiscard]] std::vector<PlacementCost> placement_costs(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
