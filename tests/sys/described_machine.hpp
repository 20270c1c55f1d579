// Machines that are not at hand: files of tests/sys/machines, and hwloc's descriptions.
#pragma once

#include <string>

#include "core/sys/topology.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline sys::Topology machine(const std::string& name)
{
    auto loaded = sys::topology_from_xml(MEMSWEEP_SOURCE_DIR "/tests/sys/machines/" + name + ".xml");
    REQUIRE(loaded);
    return *std::move(loaded);
}

inline sys::Topology synthetic(const std::string& description)
{
    auto loaded = sys::topology_from_synthetic(description);
    REQUIRE(loaded);
    return *std::move(loaded);
}

}  // namespace memsweep::tests
