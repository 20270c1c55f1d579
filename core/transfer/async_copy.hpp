// One transfer in progress. Each call of advance() moves only a part of it (a piece), so that one thread can move
// several transfers.
//
// Units    bytes.
//
// Sources  A direct copy hands its pieces to the runtime, and waits either only at the end or after each piece. A
//          staged copy goes chunk by chunk through a ring of pinned slots, or through several rings at the same time;
//          one slot is filled while others are being transferred. A host copy is made by the calling processor.
//
// Errors   the errors of the runtime. After an error, settle() waits for what is still in progress; after that, the
//          copy may begin again.
//
// Ownership  The copy owns its streams, slots and events. The memory of both ends and the runtime must outlive the
//            copy.
//
// Threads  one at a time. A copy through several rings starts threads of its own.
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
    std::uint32_t rings{1};      // staged: number of rings used at the same time
    std::uint64_t first_byte{};  // staged: offset in both ends at which the copy begins
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
    // Moves one more piece. The result `waiting` means that the device must first finish what was handed to it.
    [[nodiscard]] virtual base::Expected<Progress> advance() = 0;
    // Call after `waiting`: waits until the device has finished enough to go on.
    [[nodiscard]] virtual base::Expected<void> wait() = 0;
    // Waits until nothing is in progress, even after an error.
    virtual void settle() noexcept = 0;
};

// A transfer without a source (null) writes this byte everywhere.
inline constexpr std::byte written_from_null{0x5A};

// Makes a copy with its streams and slots, ready to begin.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>>
make_copy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);

// Makes a copy that goes chunk by chunk through a ring of pinned slots.
//
// Sources  A slot is free again when the event behind its last copy has happened. Host to device: the processor fills
//          one slot while others are being copied. Device to host: the processor empties one slot while others are
//          being filled. Device to device: the copy into the second device begins after the copy out of the first one.
//          The devices keep this order themselves; the processor waits for neither copy.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime,
                                                                          const sys::Clock& clock, const CopyPlan& plan,
                                                                          TransferStatistics& statistics);

// Returns the chunk size of a transfer, in bytes. If the options give a size, it is taken as it is. If not, it is
//   adaptive         4 MiB, the upper bound.
//   staged           about the square root of (the transfer's bytes times 64 KiB), between 64 KiB and 4 MiB.
//   other strategies 4 MiB.
// Chunks add two costs to moving the bytes. First, the driver must be called for each chunk. Second, only the processor
// or only the link is busy during the first and the last chunk. Let B be the bytes that a processor copies during the
// calls for one chunk. The sum of both costs is least if a chunk has about the square root of (the transfer's bytes
// times B). On an H100 machine the calls take ten microseconds, and B is 64 KiB.
[[nodiscard]] std::uint64_t chunk_bytes_of(const model::TransferJob& job, const model::TransferOptions& options,
                                           model::Strategy strategy);

// The part of a transfer that one ring carries. It consists of whole chunks; parts follow each other in the order of
// the rings. The last part may be shorter than the others. There may be fewer parts than rings, and there are never
// more parts than chunks.
struct Part {
    std::uint64_t first_byte{};
    std::uint64_t bytes{};
};
[[nodiscard]] std::vector<Part> parts_of(const model::TransferJob& job, const model::TransferOptions& options,
                                         std::uint32_t rings);

// Makes a staged copy through several rings at once. Each ring has its own thread and its own part of the transfer.
// Several rings are needed because a single processor copies between memory and slots at only a fraction of the link's
// rate.
//
// Cost     one thread for each ring, asleep between turns. The threads may run on the same processors as the thread
//          that makes the copy.
// Errors   os: a thread cannot be started.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_striped_copy(device::Runtime& runtime,
                                                                           const sys::Clock& clock,
                                                                           const CopyPlan& plan,
                                                                           TransferStatistics& statistics);

// The limits for the rings of a staged transfer. rings_of() returns the number of rings, each with a thread. The
// options may set this number; there are never more rings than chunks. If the options do not set the number, each
// transfer gets its share of the processors. It gets one ring for every two processors of its share, so that the
// program keeps half of the processors. There are at most 8 rings. There are fewer if a ring would have fewer chunks
// than slots, or if the slots would exceed slots_bytes. Copies without a pipeline have one ring. Copies between devices
// have one ring even if the options set another number.
struct StagingMeans {
    std::size_t processors{};         // processors that may copy for the transfer
    std::size_t transfers_at_once{};  // transfers that share these processors
    std::uint64_t slots_bytes{};      // bytes that one transfer may pin for its slots
};
[[nodiscard]] std::uint32_t rings_of(const model::TransferJob& job, const model::TransferOptions& options,
                                     const StagingMeans& means);

// Returns how many bytes of pinned memory the copy needs besides its two ends: the slots of its rings, or memory that
// is registered or gathered for the copy.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy, std::uint32_t rings);

}  // namespace memsweep::transfer
