#include "core/model/fleet.hpp"

#include <algorithm>

namespace memsweep::model {

std::size_t count_missing(const Fleet& fleet)
{
    const std::uint64_t expected = fleet.expected.value_or(fleet.hosts.size());
    const std::size_t there = fleet.hosts.size();
    return std::max<std::size_t>(expected > there ? expected - there : 0, fleet.missing.size());
}

}  // namespace memsweep::model
