#include "core/sys/setting_checks.hpp"

#include <utility>

namespace memsweep::sys {

std::vector<model::MachineCheck> setting_checks(const std::string& root)
{
    const std::string top = root.ends_with('/') ? root : root + "/";
    std::vector<model::MachineCheck> checks = processor_checks(top);
    for (model::MachineCheck& check : memory_checks(top)) {
        checks.push_back(std::move(check));
    }
    return checks;
}

}  // namespace memsweep::sys
