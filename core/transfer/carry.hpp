// One transfer under way, carried a piece at a time, so that a thread can carry several.
//
// Units    bytes.
// Sources  a direct carry hands its pieces to the runtime and waits once, or after each; a staged one goes chunk by
//          chunk through a ring of pinned slots, each filled while others are on their way; a host carry copies itself.
// Errors   what the runtime answers. The carry has then waited for all that it had under way, and may begin again.
// Ownership  streams, slots and events are its own; the memory of its ends outlives it, and so does the runtime.
// Threads  one.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer_step.hpp"
#include "core/sys/clock.hpp"
#include "core/transfer/end_memory.hpp"
#include "core/transfer/route.hpp"
#include "core/transfer/transfer_statistics.hpp"

namespace memsweep::transfer {

struct CarryPlan {
    model::TransferJob job;
    model::TransferOptions options;
    Route route;
    const EndMemory* src{};
    const EndMemory* dst{};
};

class Carry {
  public:
    enum class Progress : std::uint8_t { moved, waiting, done };

    Carry() = default;
    Carry(const Carry&) = delete;
    Carry& operator=(const Carry&) = delete;
    virtual ~Carry() = default;

    // From the first byte on; nothing of it is under way.
    virtual void begin() = 0;
    // A piece more. waiting: there is nothing to do before the device has done more.
    [[nodiscard]] virtual base::Expected<Progress> advance() = 0;
    // Until the device has done more.
    [[nodiscard]] virtual base::Expected<void> wait() = 0;
    // Until nothing is under way, whatever has failed.
    virtual void settle() noexcept = 0;
};

// Pinned memory that a carry of this plan takes beside its ends.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy);

// With its streams and slots, ready to begin.
[[nodiscard]] base::Expected<std::unique_ptr<Carry>> make_carry(device::Runtime& runtime, const sys::Clock& clock,
                                                                const CarryPlan& plan, TransferStatistics& statistics);

}  // namespace memsweep::transfer
