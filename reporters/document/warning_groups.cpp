#include "reporters/document/warning_groups.hpp"

#include <algorithm>
#include <iterator>

namespace memsweep::reporters {

std::vector<WarningGroup> warning_groups(const model::RunReport& report)
{
    std::vector<WarningGroup> groups;
    for (const model::Warning& warning : report.warnings) {
        auto group = std::ranges::find_if(
            groups, [&](const WarningGroup& one) { return one.code == warning.code && one.hint == warning.hint; });
        if (group == groups.end()) {
            groups.push_back({warning.code, warning.hint, {}});
            group = std::prev(groups.end());
        }
        group->warnings.push_back(&warning);
    }
    return groups;
}

}  // namespace memsweep::reporters
