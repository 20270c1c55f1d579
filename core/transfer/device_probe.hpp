// Transfers to, from and between devices. What cannot be measured is listed all the same, with its reason.
//
// Sources  the names of the cases are those of nvbandwidth (NVIDIA) where it has them, so that both tools' files can be
//          joined by them.
// Cost     less than a millisecond where there is no device.
#pragma once

#include <string_view>
#include <vector>

#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

struct DeviceCase {
    std::string_view name;
    std::string_view meaning;
};
[[nodiscard]] const std::vector<DeviceCase>& device_cases();

// "probe_device/transfer=host_to_device_memcpy_ce"
[[nodiscard]] std::vector<model::CaseReport> probe_devices();

}  // namespace memsweep::transfer
