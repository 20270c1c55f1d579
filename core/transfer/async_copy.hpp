// One transfer in progress. Each call of advance() moves one piece, so that one thread can move several transfers.
//
// Units    bytes.
//
// Sources  Direct copy: hands its pieces to the runtime, and waits once at the end or after each piece. Staged copy:
//          goes chunk by chunk through a ring of pinned slots, or through several rings at once; one slot is filled
//          while others are being transferred. Host copy: made by the calling processor.
//
// Errors   as the runtime. After an error, settle() ends what is still in progress; then the copy may begin again.
//
// Ownership  The copy owns its streams, slots and events. The memory of its ends and the runtime outlive it.
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
    std::uint32_t rings{1};      // staged: number of rings used at once
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
    // Moves one more piece. `waiting`: nothing can be done until the device has finished more.
    [[nodiscard]] virtual base::Expected<Progress> advance() = 0;
    // Waits until the device has done more.
    [[nodiscard]] virtual base::Expected<void> wait() = 0;
    // Waits until nothing is in progress, even after an error.
    virtual void settle() noexcept = 0;
};

// The byte that a transfer without a source (null) writes.
inline constexpr std::byte written_from_null{0x5A};

// Makes a copy with its streams and slots, ready to begin.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>>
make_copy(device::Runtime& runtime, const sys::Clock& clock, const CopyPlan& plan, TransferStatistics& statistics);

// Makes a copy that goes chunk by chunk through a ring of pinned slots.
//
// Sources  A slot is free again once the event behind its last copy has happened. Host to device: the processor fills
//          one slot while others are being copied. Device to host: the processor empties one slot meanwhile. Device to
//          device: the copy into the second device waits on the device for the copy out of the first; the processor
//          waits for neither.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime,
                                                                          const sys::Clock& clock, const CopyPlan& plan,
                                                                          TransferStatistics& statistics);

// The chunk size of a transfer, in bytes. A size in the options is taken as it is. Otherwise
//   adaptive         4 MiB, the upper bound.
//   staged           about the square root of (the transfer's bytes times 64 KiB), between 64 KiB and 4 MiB.
//   other strategies 4 MiB.
// Chunks add two costs to moving the bytes. Each chunk has the driver's calls. And during the first and the last chunk
// only the processor or only the link is busy. The sum of both is least for chunks of the square root of (the
// transfer's bytes times the bytes that a processor copies during one chunk's calls). On an H100 a processor copies
// 64 KiB in the ten microseconds that these calls take.
[[nodiscard]] std::uint64_t chunk_bytes_of(const model::TransferJob& job, const model::TransferOptions& options,
                                           model::Strategy strategy);

// The part of a transfer that one ring carries: whole chunks, in the order of the rings. The last part may be shorter
// than the others. There may be fewer parts than rings, and there are never more parts than chunks.
struct Part {
    std::uint64_t first_byte{};
    std::uint64_t bytes{};
};
[[nodiscard]] std::vector<Part> parts_of(const model::TransferJob& job, const model::TransferOptions& options,
                                         std::uint32_t rings);

// Makes a staged copy through several rings at once. Each ring has a thread and a part of the transfer of its own,
// because one processor alone copies between memory and slots at a fraction of the link's rate.
//
// Cost     one thread for each ring, asleep between turns. The threads may run on the same processors as the thread
//          that makes the copy.
// Errors   os: a thread cannot be started.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_striped_copy(device::Runtime& runtime,
                                                                           const sys::Clock& clock,
                                                                           const CopyPlan& plan,
                                                                           TransferStatistics& statistics);

// The number of rings of a staged transfer, each with a thread. The options may set it; there are never more rings than
// chunks. Otherwise there is one ring for every two processors, so that the program keeps some, and at most 8. There
// are fewer if a ring would have fewer chunks than slots, or if the slots would exceed slots_bytes. Copies between
// devices and copies without a pipeline have one ring.
struct StagingMeans {
    std::size_t processors{};         // that may copy for the transfer
    std::size_t transfers_at_once{};  // that share these processors
    std::uint64_t slots_bytes{};      // that one transfer may pin for its slots
};
[[nodiscard]] std::uint32_t rings_of(const model::TransferJob& job, const model::TransferOptions& options,
                                     const StagingMeans& means);

// Pinned memory that the copy takes beside its ends: the slots of its rings, or memory registered or gathered for it.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy, std::uint32_t rings);

}  // namespace memsweep::transfer
