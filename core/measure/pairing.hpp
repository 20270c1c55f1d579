// Which cases belong together: the same case of two results, or two values of an axis within one.
//
// Ownership  pairs point into the reports they were made from.
// Cost       pairs by value are looked for in every combination of a base with a candidate.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

struct CasePair {
    const model::CaseReport* base{};       // nullptr: only the candidate has it
    const model::CaseReport* candidate{};  // nullptr: only the base has it
};

// By scenario and case id: the base's cases in their order, then those only the candidate has.
[[nodiscard]] std::vector<CasePair> pair_by_id(std::span<const model::CaseReport> base,
                                               std::span<const model::CaseReport> candidate);

// The cases of one axis value with those of another whose parameters are equal otherwise (`mode=finalizer` against
// `mode=refcount`). When the two values are of different axes, both axes are left out of the comparison.
[[nodiscard]] std::vector<CasePair> pair_by_value(std::span<const model::CaseReport> cases, const model::RatioOf& base,
                                                  const model::RatioOf& candidate);

// "name=value" of every parameter but those of the axes named, in alphabetical order.
[[nodiscard]] std::vector<std::string> params_without(const model::CaseReport& report,
                                                      std::span<const std::string_view> axes);

[[nodiscard]] bool has_value(const model::CaseReport& report, const model::RatioOf& wanted);

}  // namespace memsweep::measure
