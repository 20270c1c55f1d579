// Transfers chunk by chunk through a ring of pinned slots: host to device, device to host, device to device.
//
// Sources  A slot is free once the event behind its last copy has happened. Into a device the processor fills a slot
//          while the copies of others run; out of one the copies of others run while it empties one; between devices
//          the second copy waits for the first on the device, and the processor for neither.
#pragma once

#include "core/transfer/async_copy.hpp"

namespace memsweep::transfer {

[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime,
                                                                          const sys::Clock& clock, const CopyPlan& plan,
                                                                          TransferStatistics& statistics);

// Pinned memory that the copy takes beside its ends: the slots of a ring, or what is locked or gathered for it.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy);

}  // namespace memsweep::transfer
