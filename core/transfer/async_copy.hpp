// One transfer in progress, moved a piece at a time, so that one thread can move several.
//
// Units    bytes.
//
// Sources  a direct copy hands its pieces to the runtime and waits once, or after each; a staged one goes chunk by
//          chunk through a ring of pinned slots, each filled while others are on their way, or through several rings
//          at once; a host copy is made by the processor that calls.
//
// Errors   what the runtime answers. Nothing of it is in progress then, and it may begin again.
//
// Ownership  streams, slots and events are its own; the memory of its ends outlives it, and so does the runtime.
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
    std::uint32_t rings{1};      // staged: through which it goes at once
    std::uint64_t first_byte{};  // staged: offset in both ends
};

class AsyncCopy {
  public:
    enum class Progress : std::uint8_t { moved, waiting, done };

    AsyncCopy() = default;
    AsyncCopy(const AsyncCopy&) = delete;
    AsyncCopy& operator=(const AsyncCopy&) = delete;
    virtual ~AsyncCopy() = default;

    // Starts from the first byte; nothing of it is in progress.
    virtual void begin() = 0;
    // Moves a piece more. waiting: nothing can be done before the device has done more.
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
// Sources  A slot is free once the event behind its last copy has happened. Into a device the processor fills a slot
//          while the copies of others run; out of one the copies of others run while it empties one; between devices
//          the second copy waits for the first on the device, and the processor for neither.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_staged_copy(device::Runtime& runtime,
                                                                          const sys::Clock& clock, const CopyPlan& plan,
                                                                          TransferStatistics& statistics);

// The bytes of a chunk, of a transfer that is carried out by this strategy: as asked for, else
//   staged  about the root of the transfer's bytes times 64 KiB, and 4 MiB at most. What a transfer takes beyond its
//           bytes are a part for each chunk (the calls of a driver) and the first and last chunk, when only one of
//           processor and link is busy: together least where a chunk is the root of the bytes times what a processor
//           copies while such calls last (on an H100: 64 KiB in some ten microseconds).
//   else    4 MiB; adaptive: no more than that.
[[nodiscard]] std::uint64_t chunk_bytes_of(const model::TransferJob& job, const model::TransferOptions& options,
                                           model::Strategy strategy);

// What each of the rings carries: whole chunks, one after the other; the last ring what is left. Where there are fewer
// chunks than rings, as many rings as chunks.
struct Part {
    std::uint64_t first_byte{};
    std::uint64_t bytes{};
};
[[nodiscard]] std::vector<Part> parts_of(const model::TransferJob& job, const model::TransferOptions& options,
                                         std::uint32_t rings);

// The same, in parts of whole chunks, each by a thread of its own through a ring of its own: one processor copies
// between memory and slots at a fraction of what a link carries.
//
// Cost     as many threads as there are rings, asleep between turns; they run where the thread that made them might.
// Errors   os: a thread cannot be started.
[[nodiscard]] base::Expected<std::unique_ptr<AsyncCopy>> make_striped_copy(device::Runtime& runtime,
                                                                           const sys::Clock& clock,
                                                                           const CopyPlan& plan,
                                                                           TransferStatistics& statistics);

// Through how many rings a staged transfer goes: as many as options ask for. Else a thread for every two processors, so
// that the program keeps some, with every slot of every ring used, and no more slots than may be pinned for it. Between
// devices no processor copies, and one ring does.
struct StagingMeans {
    std::size_t processors{};         // beside the device
    std::size_t transfers_at_once{};  // that share them
    std::uint64_t slots_bytes{};      // that may be pinned for one of them
};
[[nodiscard]] std::uint32_t rings_of(const model::TransferJob& job, const model::TransferOptions& options,
                                     const StagingMeans& means);

// Pinned memory that the copy takes beside its ends: the slots of rings, or what is locked or gathered for it.
[[nodiscard]] std::uint64_t slot_bytes(const model::TransferJob& job, const model::TransferOptions& options,
                                       model::Strategy strategy, std::uint32_t rings);

}  // namespace memsweep::transfer
