// The cases that differ only in how they release memory.
//
// Ownership  groups point into the cases they were made from.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::measure {

inline constexpr std::string_view mode_axis = "mode";

struct ModeGroup {
    std::vector<std::string> rest;  // what its cases share: the scenario, then the other parameters
    std::vector<const model::CaseReport*> cases;
    const model::CaseReport* base{};  // mode: refcount where there is one, else the first
};

// Of the cases with status ok and a parameter `mode`, in the order in which they first appear.
[[nodiscard]] std::vector<ModeGroup> mode_groups(std::span<const model::CaseReport> cases);

// The same of another axis, against its value `base`; groups without a case of that value are left out.
[[nodiscard]] std::vector<ModeGroup> groups_against(std::span<const model::CaseReport> cases, std::string_view axis,
                                                    std::string_view base);

// The value of a parameter; empty when there is none.
[[nodiscard]] std::optional<std::string> value_on(const model::CaseReport& report, std::string_view axis);

// The value of the parameter `mode`; empty when there is none.
[[nodiscard]] std::optional<std::string> mode_of(const model::CaseReport& report);

}  // namespace memsweep::measure
