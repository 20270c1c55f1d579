// Which devices a case of the probe is measured on, by which lanes, and why it is not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/runtime.hpp"
#include "core/transfer/device_cases.hpp"
#include "core/transfer/device_lane.hpp"
#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

struct Ends {
    std::uint32_t first{};
    std::optional<std::uint32_t> second;  // of a pair
};

[[nodiscard]] std::string device_word(std::uint32_t device);  // "gpu0"

// At once, by every device.
[[nodiscard]] bool is_of_all(DeviceCase::Way way) noexcept;

// From one device to another.
[[nodiscard]] bool is_of_pairs(DeviceCase::Way way) noexcept;

// Those of the runtime that were asked for; all, where none was.
[[nodiscard]] std::vector<std::uint32_t> chosen_devices(const ProbeContext& context, const device::Runtime& runtime);

// The devices, or the pairs, that a case is measured on; one, where it is of all devices or there is no pair.
// Of the pairs at most so many: the nearest first, so that with a multiple of the number of devices each of them is as
// often the first and the second as every other one.
[[nodiscard]] std::vector<Ends> ends_of(const DeviceCase& what, const std::vector<std::uint32_t>& devices,
                                        std::optional<std::uint32_t> most_pairs = std::nullopt);

// Each of so many bytes; the second of two is the other direction where the case is of both.
[[nodiscard]] std::vector<LaneSpec> lanes_of(const DeviceCase& what, Ends ends,
                                             const std::vector<std::uint32_t>& devices, std::uint64_t bytes);

// Why a case cannot be measured on this runtime; empty where it can be tried.
[[nodiscard]] std::string unmet(const DeviceCase& what, Ends ends, const std::vector<std::uint32_t>& devices,
                                const device::Runtime& runtime);

// The fact `link`: as it was under load (`when` says at which moment), at rest before, and what it could be.
void set_link_facts(model::CaseReport& report, const std::optional<device::HostLink>& link, std::string_view when,
                    const std::optional<device::HostLink>& at_rest);

}  // namespace memsweep::transfer
