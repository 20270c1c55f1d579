// Warnings that differ only in the case they name, brought together: a sweep of 400 cases may warn 400 times.
#pragma once

#include <string>
#include <vector>

#include "core/model/report.hpp"

namespace memsweep::reporters {

struct WarningGroup {
    std::string code;
    std::string hint;
    std::vector<const model::Warning*> warnings;  // at least one, in their order
};

// By code and hint, in order of appearance; they refer to the report.
[[nodiscard]] std::vector<WarningGroup> warning_groups(const model::RunReport& report);

}  // namespace memsweep::reporters
