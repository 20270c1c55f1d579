// The findings of `memsweep doctor`, which checks whether the machine is fit for measurements.
#pragma once

#include <string>
#include <vector>

#include "core/model/machine.hpp"
#include "core/model/report.hpp"
#include "reporters/document/document.hpp"

namespace memsweep::reporters {

struct Checkup {
    model::ToolInfo tool;
    model::Machine machine;
    std::string taken;  // UTC
    std::vector<model::MachineCheck> checks;
};

[[nodiscard]] std::size_t count(const Checkup& checkup, model::Fitness status);

// First come the checks whose result spoils measurements, then those with a lesser remark, then only the names of the
// checks that are ok.
[[nodiscard]] Document document(const Checkup& checkup);

}  // namespace memsweep::reporters
