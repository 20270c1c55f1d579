// The cost of a choice compared with another: release modes with refcount, trims with none, copies with views.
//
// Errors   none: if a metric is absent, its part is left out. A case without any part has no contrast.
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
// Sources  floating_bytes at the sampled points (exact). If no point has it: working_set_delta above that of the base
//          at the same point, from 1 MiB on. If there are no points: floating_bytes_peak.
struct Held {
    struct Sample {
        std::string point;  // empty: of floating_bytes_peak
        double bytes{};
    };
    Sample first, last;
    bool is_above_base{};
    std::optional<double> resident_bytes;  // at `first`, if less than half is resident: the arrays were never written
    std::string released_at;               // the first point behind `last` that holds none; empty: it is still held
    std::optional<double> drain_seconds;
};

// Empty when nothing is held.
[[nodiscard]] std::optional<Held> held(const model::CaseReport& base, const model::CaseReport& other);

struct CaseContrast {
    std::string_view axis;  // the one parameter in which the two differ
    const model::CaseReport* base{};
    const model::CaseReport* other{};
    std::string base_name, name;  // "refcount", "finalizer (size=1024)", "trim soft": what tells them apart
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;  // where `other` is shown to be slower
    std::optional<Held> held;
    std::optional<MetricEffect> peak;  // working_set_peak, else live_bytes_peak, where they differ
};

// First, one for each case that ran and has a counterpart that differs only on the axis `mode`. The counterpart is
// refcount if there is one, else the first of the group. Then the cases that differ on `trim` from `none`, and on
// `copy` from `false`.
[[nodiscard]] std::vector<CaseContrast> case_contrasts(std::span<const model::CaseReport> cases);

// The cost of sharing a worker. This compares the time and page faults of the same case alone and inside a sweep, and
// says how long each further fault took.
//
// Units    times and faults per call, array or repetition, whichever the case has; medians over the repetitions.
// Sources  the ratio: Hodges-Lehmann, inside the sweep / alone. Time per fault: the difference of the times over the
//          difference of the faults, so it includes everything else that differs. It is absent unless both have the
//          same sign.
// Errors   none: what cannot be computed is absent, with a reason.
// Ownership  contrasts point into the cases that they were made from.

struct PlacedTime {
    std::optional<double> seconds;
    std::optional<double> faults;
};

// Why a contrast has no ratio or no time per fault.
enum class NoPrice : std::uint8_t { none, not_measured, faults_alike, more_faults_alone, fewer_faults_alone };

struct PlacementContrast {
    const model::CaseReport* alone{};
    const model::CaseReport* placed{};  // in a sweep
    std::string_view metric;            // whose ratio it is
    PlacedTime time_alone;
    PlacedTime time_placed;
    std::optional<Shift> ratio;
    std::optional<double> seconds_per_fault;
    NoPrice without{};
    const model::CaseReport* unmeasured{};  // not_measured: which of the two
};

// One for each case of a sweep that was also measured alone, in the order of the cases of sweeps.
[[nodiscard]] std::vector<PlacementContrast> placement_contrasts(std::span<const model::CaseReport* const> cases);

// The contrasts of one mode and placement.
struct PlacementCost {
    std::string mode;  // empty: the cases have none
    bool is_drained{};
    std::size_t count{};
    double mean{};                      // geometric mean of the ratios
    PlacementContrast least, most;      // by their ratios
    std::optional<Attribution> excess;  // why `most` took longer, if the sweep is shown to slow it down
};
[[nodiscard]] std::vector<PlacementCost> placement_costs(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
