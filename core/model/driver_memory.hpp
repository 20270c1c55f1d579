// What memory that an accelerator's driver gives can and cannot do, as far as it is known before a device is looked
// for.
//
// Sources  the kinds are device::MemoryKind's; which of them the processor reaches is what the runtimes promise for all
//          of their devices: mapped memory has an address only while it is mapped.
// Errors   objections say what is wrong and what would do instead; empty: nothing is wrong.
#pragma once

#include <string>

#include "core/model/specs.hpp"

namespace memsweep::model {

[[nodiscard]] bool is_from_driver(ResourceKind resource);

// The device's own memory; of some devices that is the host's.
[[nodiscard]] bool is_on_device(ResourceKind resource);

// A driver's memory whose arrays the processor can neither read nor write: their addresses lead nowhere.
[[nodiscard]] bool is_beyond_reach(ResourceKind resource);

// Why arrays of this resource cannot be read and written by a step.
[[nodiscard]] std::string touch_objection(ResourceKind resource);

// Why arrays cannot be made as zeros. Out of the processor's reach the driver alone clears, and only what is new.
[[nodiscard]] std::string zeros_objection(const MemorySpec& memory, const ReleaseSpec& release);

// Why the kernel's advice on pages is not for this resource.
[[nodiscard]] std::string advice_objection(ResourceKind resource);

// Why this memory cannot stand below the pool, or be looked after as `safety` asks.
[[nodiscard]] std::string driver_objection(const MemorySpec& memory, const SafetySpec& safety);

}  // namespace memsweep::model
