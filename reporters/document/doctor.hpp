// The findings of `memsweep doctor`.
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

// Checks that spoil measurements come first, then the notes, then the names of checks that are ok.
[[nodiscard]] Document document(const Checkup& checkup);

}  // namespace memsweep::reporters
