// What a choice costs, told against the one it is measured beside: "finalizer: 7.2x the time per array of refcount (95
// % interval 6.8 to 7.6); page faults explain 81 % of the extra time (...); holds 762.9 MiB after drop". Release modes
// against refcount, trims against none, copies against views.
//
// Errors   none: an absent metric leaves its part out; a case with nothing to tell has no sentence.
// Ownership  contrasts point into the cases they were made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/measure/attribution.hpp"
#include "core/measure/time_contrast.hpp"
#include "core/model/report.hpp"

namespace memsweep::measure {

struct CaseContrast {
    std::string_view axis;  // the one parameter in which the two differ
    const model::CaseReport* base{};
    const model::CaseReport* other{};
    std::optional<TimeContrast> time;
    std::optional<Attribution> attribution;  // where `other` is shown to be slower
    std::string sentence;
};

// One per case that ran and has a counterpart differing only in the axis `mode`: refcount where there is one, else the
// first of the group; then those differing in `trim` from `none`, in `copy` from `false`.
[[nodiscard]] std::vector<CaseContrast> case_contrasts(std::span<const model::CaseReport> cases);

// Their sentences. Above 8, those with the largest differences in time, and one line on the rest.
[[nodiscard]] std::vector<std::string> contrast_sentences(std::span<const model::CaseReport> cases);

}  // namespace memsweep::measure
