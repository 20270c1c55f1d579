// What a choice costs against the one it is measured beside: release modes against refcount, trims against none, copies
// against views. "finalizer: 7.2x the time per array of refcount (95 % interval 6.8 to 7.6); page faults explain 81 %
// of the extra time (...); holds 762.9 MiB after drop".
//
// Errors   none: an absent metric leaves its part out; a case without any part has no sentence.
// Ownership  contrasts point into the cases that they were made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measure/statistics.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

// Memory that a case still holds after the program dropped it: "holds 762.9 MiB after drop and still 762.9 MiB after
// collect; released between the samples after_collect and after_drain (drains took 18.0 ms)"; empty when nothing is
// held.
//
// Sources  floating_bytes at the sampled points (exact). Where no point has it, working_set_delta above that of the
//          base at the same point, from 1 MiB on. Where there are no points, floating_bytes_peak.
[[nodiscard]] std::string held_part(const model::CaseReport& base, std::string_view base_mode,
                                    const model::CaseReport& other);

struct CaseContrast {
    std::string_view axis;  // the one parameter in which the two differ
    const model::CaseReport* base{};
    const model::CaseReport* other{};
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;  // where `other` is shown to be slower
    std::string sentence;
};

// One per case that ran and has a counterpart that differs only on the axis `mode`: refcount where there is one, else
// the first of the group. Then the cases that differ on `trim` from `none`, and on `copy` from `false`.
[[nodiscard]] std::vector<CaseContrast> case_contrasts(std::span<const model::CaseReport> cases);

// Their sentences. Of more than 8 contrasts, those with the largest differences in time, and one line on the rest.
[[nodiscard]] std::vector<std::string> contrast_sentences(std::span<const model::CaseReport> cases);

// What sharing a worker costs a case: the time and the page faults of the same case alone and inside a sweep, and the
// time that each further fault took.
//
// Units    times and faults per call, array or repetition, whichever the case has; medians over the repetitions.
// Sources  the ratio: Hodges-Lehmann, inside the sweep / alone. Time per fault: the difference of the times over the
//          difference of the faults, and so with everything else that differs; absent unless both have the same sign.
// Errors   none: what cannot be computed is absent, with a reason.
// Ownership  contrasts point into the cases that they were made from.

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
