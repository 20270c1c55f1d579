// What a runtime says of its devices, for people and for results.
//
// Cost     that of PeerLink for each pair; nothing is measured.
#pragma once

#include <string>
#include <vector>

#include "core/device/runtime.hpp"
#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// As cases of the topology: "probe_topology/part=gpu0"; without a device one that is skipped, with the reason.
[[nodiscard]] std::vector<model::CaseReport> probe_device_facts(const device::Runtime& runtime);

// "gpu0: NVIDIA H200 (sm_90, CUDA 13.0)", of each device.
[[nodiscard]] std::vector<std::string> device_lines(const device::Runtime& runtime);

}  // namespace memsweep::transfer
