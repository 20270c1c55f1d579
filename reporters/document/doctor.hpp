// The findings of `memsweep doctor`: what about the machine makes measurements worse.
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

// Checks that found something that spoils measurements come first, then lesser remarks, then the names of the checks
// that are ok.
[[nodiscard]] Document document(const Checkup& checkup);

}  // namespace memsweep::reporters
