// Findings as sentences, for every report.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/measure/findings.hpp"

namespace memsweep::reporters {

// A finding in words, without full stops. The text says what was found; each further line gives a cause or another
// effect.
struct Statement {
    measure::Importance importance{};
    std::string text;
    std::vector<std::string> further{};
};

[[nodiscard]] std::vector<Statement> statements(std::span<const measure::Finding> findings);

// Returns the statement as one sentence: its text and further lines, joined by semicolons.
[[nodiscard]] std::string sentence(const measure::Finding& finding);

// Compares a case with the base case: "finalizer: 7.2x the time per array of refcount (95 % interval 6.8 to 7.6); page
// faults explain 81 % of the extra time (...); holds 762.9 MiB after drop".
[[nodiscard]] std::string sentence(const measure::CaseContrast& contrast);

// Says how much memory a case still holds, at which samples, and when the memory is released: "holds 762.9 MiB after
// drop and still 762.9 MiB after collect; released between the samples after_collect and after_drain (drains took 18.0
// ms)".
[[nodiscard]] std::string held_part(const measure::Held& held, std::string_view base_name);

}  // namespace memsweep::reporters
