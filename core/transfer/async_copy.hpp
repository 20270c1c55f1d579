// One transfer in progress. It moves a piece at a time, so that one thread can move several transfers.
//
// Units    bytes.
//
// Sources  A direct copy hands its pieces to the runtime and waits once, or after each. A staged copy goes chunk by
//          chunk through a ring of pinned slots, or through several rings at once; each slot is filled while others are
//          on their way. The calling processor makes a host copy.
//
// Errors   as the runtime. After an error nothing of the copy is in progress, and it may begin again.
//
// Ownership  the copy owns its streams, slots and events. The memory of its ends and the runtime outlive it.
//
// Threads  one calls; a copy through several rings has threads of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/clock.hpp"
#include "core/transfer/end_memory.hpp"
#include "core/transfer/route.hpp"
#include "core/transfer/transfer_statistics.hpp"

namespace memsweep::transfer {

struct CopyPlan {
    model::TransferJob job;
    model::TransferOptions options;
    Route route;
    const EndMemory* src{};
    const EndMemory* dst{};
    std::uint32_t rings{1};      // staged: it goes through so many at once
    std::uint64_t first_byte{};  // staged: offset in both ends
};

class AsyncCopy {
  public:
    enum class Progress : std::uint8_t { moved, waiting, done };

    AsyncCopy() = default;
    AsyncCopy(const AsyncCopy&) = delete;
    AsyncCopy& operator=(const AsyncCopy&) = delete;
    virtual ~AsyncCopy() = default;

    // Starts from the first byte. Call only while nothing of the copy is in progress.
    virtual void begin() = 0;
    // Moves one more piece. `waiting`: the device must finish more before anything else can be done.
    [[nodiscard]] virtual base::Expected<Progress> advance() = 0;
    // Waits until the device has done more.
    [[nodiscard]] virtual base::Expected<void> wait() = 0;
    // Waits until nothing is in progress, whatever has failed.
    virtual void settle() noexcept = 0;
};

// The byte that a transfer from null writes.
inline constexpr std::byte written_from_null{0x5A};

// Makes a copy with its streams and slots, ready to begin.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>>
make_copy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);

// Transfers chunk by chunk through a ring of pinned slots: host to device, device to host, device to device.
//
// Sources  A slot is free once the event behind its last copy has happened. On the way into a device, the processor
//          fills a slot while the copies of others run; on the way out it empties one meanwhile. Between devices the
//          second copy waits for the first on the device, and the processor waits for neither.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime,
                                                                          const sys::Clock& clock, const CopyPlan& plan,
                                                                          TransferStatistics& statistics);

// The bytes of a chunk in a transfer by this strategy. They are as asked for, or else
//   staged  about the root of (the transfer's bytes times 64 KiB), and 4 MiB at most. Two costs come on top of moving
//           the bytes: the driver's calls for each chunk, and the first and last chunk, during which only the processor
//           or only the link is busy. Their sum is least if a chunk is the root of (the transfer's bytes times the
//           bytes that a processor copies while such calls last). On an H100 these are 64 KiB in some ten microseconds.
//   else    4 MiB; adaptive: no more than that.
[[nodiscard]] std::uint64_t chunk_bytes_of(const model::TransferJob& job, const model::TransferOptions& options,
                                           model::Strategy strategy);

// The part of each ring: whole chunks, one after the other; the last ring takes the rest. If there are fewer chunks
// than rings, there are as many parts as chunks.
struct Part {
    std::uint64_t first_byte{};
    std::uint64_t bytes{};
};
[[nodiscard]] std::vector<Part> parts_of(const model::TransferJob& job, const model::TransferOptions& options,
                                         std::uint32_t rings);

// The same, in parts of whole chunks, each by a thread of its own through a ring of its own. One processor alone copies
// between memory and slots at a fraction of the link's rate.
//
// Cost     as many threads as rings, asleep between turns. They run on the processors that the thread which made them
//          may use.
// Errors   os: a thread cannot be started.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_striped_copy(device::Runtime& runtime,
                                                                           const sys::Clock& clock,
                                                                           const CopyPlan& plan,
                                                                           TransferStatistics& statistics);

// The number of rings of a staged transfer: as many as the options ask for. Otherwise it has a thread for every two
// processors, so that the program keeps some. Every slot of every ring is used, and no more slots are made than may be
// pinned. Between devices no processor copies, so one ring is enough.
struct StagingMeans {
    std::size_t processors{};         // beside the device
    std::size_t transfers_at_once{};  // that share them
    std::uint64_t slots_bytes{};      // that may be pinned for one of them
};
[[nodiscard]] std::uint32_t rings_of(const model::TransferJob& job, const model::TransferOptions& options,
                                     const StagingMeans& means);

// Pinned memory that the copy takes beside its ends: the slots of rings, or the memory locked or gathered for it.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy, std::uint32_t rings);

}  // namespace memsweep::transfer
