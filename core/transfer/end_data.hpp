// What the ends of a transfer hold, written and looked at by a processor: on a device through copies of the runtime.
//
// Units    bytes.
// Sources  the pattern of device/pattern.hpp.
// Errors   what the runtime answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/expected.hpp"
#include "core/device/pattern.hpp"
#include "core/device/runtime.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::transfer {

// `device`: whose stream carries what a processor does not reach.
[[nodiscard]] base::Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end,
                                             std::uint64_t seed);
[[nodiscard]] base::Expected<device::Mismatch> check_end(device::Runtime& runtime, std::uint32_t device,
                                                         const EndMemory& end, std::uint64_t seed);
// Every byte this one.
[[nodiscard]] base::Expected<device::Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device,
                                                            const EndMemory& end, std::byte value);

}  // namespace memsweep::transfer
