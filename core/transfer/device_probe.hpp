// Transfers to, from and between devices, one case for each way and device, or pair of them. What cannot be measured is
// listed all the same, with its reason.
//
// Sources  device_lane.hpp has the method; every sample is verified.
// Cost     less than a millisecond where there is no device; with one about ten samples of sample_seconds a case.
// Errors   failed: data differ, by how much and where; skipped: what the device or the runtime lacks.
#pragma once

#include <vector>

#include "core/device/runtime.hpp"
#include "core/transfer/device_cases.hpp"
#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

// "probe_device/device=gpu0/transfer=host_to_device_memcpy_ce"; without a device "probe_device/transfer=...".
[[nodiscard]] std::vector<model::CaseReport> probe_devices(const ProbeContext& context, device::Runtime& runtime);

}  // namespace memsweep::transfer
