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
    const model::CaseReport* base{};  // refcount where there is one, else the first
};

// Of the cases with status ok and a parameter `mode`, in the order in which they first appear.
[[nodiscard]] std::vector<ModeGroup> mode_groups(std::span<const model::CaseReport> cases);

// The value of the parameter `mode`; empty when there is none.
[[nodiscard]] std::optional<std::string> mode_of(const model::CaseReport& report);

}  // namespace memsweep::measure
