// Machines that are not at hand: files of tests/sys/machines, and hwloc's descriptions.
#pragma once

#include <array>
#include <string>

#include "core/sys/topology.hpp"
#include "tests/support/catch.hpp"

namespace memsweep::tests {

inline constexpr std::array machine_names{"amd_sixteen_l3",          "arm_clusters",
                                          "gpu_memory_nodes",        "intel_disallowed_processors",
                                          "intel_four_packages",     "intel_hybrid",
                                          "intel_memory_attributes", "intel_memory_expander",
                                          "intel_two_packages_gpus", "node_without_processors",
                                          "power8_four_gpus"};

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
