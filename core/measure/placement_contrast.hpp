// What sharing a worker costs a case: the time and the page faults of the same case alone and inside a sweep, and the
// time that each further fault took.
//
// Units    times and faults per call, array or repetition, whichever the case has; medians over the repetitions.
// Sources  the ratio: Hodges-Lehmann, inside the sweep / alone. Time per fault: the difference of the times over the
//          difference of the faults, and so with everything else that differs; absent unless both have the same sign.
// Errors   none: what cannot be computed is absent, with a reason.
// Ownership  contrasts point into the cases that they were made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measure/nonparametric.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct PlacedTime {
    std::optional<double> seconds;
    std::optional<double> faults;
};

struct PlacementContrast {
    const model::CaseReport* alone{};
    const model::CaseReport* placed{};  // in a sweep
    PlacedTime time_alone;
    PlacedTime time_placed;
    std::optional<Shift> ratio;
    std::optional<double> seconds_per_fault;
    std::string reason;  // why the ratio or the time per fault is absent
};

// One per case of a sweep that has its like placed alone, in the order of the cases of sweeps.
[[nodiscard]] std::vector<PlacementContrast> placement_contrasts(std::span<const model::CaseReport* const> cases);

// Per mode and placement: "refcount in a sweep: 1.01x the time alone over 55 cases (geometric mean), from 0.98x
// (size_100) to 1.04x (count_4)"; where that last one is shown to be slower, its cause follows (time_contrast.hpp).
[[nodiscard]] std::vector<std::string> placement_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
