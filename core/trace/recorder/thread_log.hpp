// What a thread records into: its place in a slot of the process's file. The way an event takes when nothing is to be
// set up, stamped or flushed is inline; the rest is in thread_log.cpp.
//
// Cost     some 40 instructions an event.
// Memory   a log per slot, in memory that a forked child finds zeroed: that is how it learns that it is another
//          process, also after a raw clone(2), and the slots are its parent's.
// Threads  a log belongs to the thread that it is the `current` one of. A signal handler that allocates while its
//          thread is recording leaves its events in `deferred`, and the thread records them when it is done.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/trace/format/event_encoder.hpp"
#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace::recorder {

enum class Call : std::uint8_t { malloc, calloc, realloc, free, aligned_alloc, failed_alloc, map, unmap };

struct CallEvent {
    Call call{};
    std::uint64_t address{};
    std::uint64_t other{};  // realloc: the old address; aligned_alloc: the alignment
    std::uint64_t size{};
};

// Zero is what a wiped page says.
enum class LogState : std::uint32_t {
    unset = 0,  // not asked yet whether to record
    ready,
    recording,
    selecting,  // ready, but not for the way inline: blocks are chosen, or the processor lacks its instructions
    stopped,    // nothing more can be recorded
    ignored,    // nothing is to be recorded
    counting,   // no log is kept (counting.hpp)
};

struct alignas(64) ThreadLog {
    Slot* slot;
    EventEncoder encoder;
    std::int32_t until_stamp;  // so many events more under the last stamp, for which there is room
    LogState state;
    std::uint32_t deferred_count;
    std::uint32_t thread;
    bool is_taken;
    std::array<CallEvent, 30> deferred;
};

// Never null.  NOLINTNEXTLINE(bugprone-dynamic-static-initializers): __thread has none
extern __thread ThreadLog* current __attribute__((tls_model("initial-exec")));

// The calls that the way inline does not take: in every state but `ready`, and in it those that need a stamp, room, or
// a long form. Each returns the address, so that the caller need not keep it over the call.
std::uint64_t record_otherwise(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t other) noexcept;
std::uint64_t record_long(ThreadLog& log, Call call, std::uint64_t address, std::uint64_t size,
                          std::uint64_t other) noexcept;
std::uint64_t record_deferred(ThreadLog& log, std::uint64_t address = 0) noexcept;
// The thread has no log: the next event looks for one.
void forget_log() noexcept;
// Before a realloc, while the old block can be asked: whether it is one that is recorded, or how large it is.
void prepare_realloc(void* block) noexcept;
// After one that failed, so that the old block is still there.
void record_failed_realloc(void* block, std::uint64_t bytes) noexcept;

[[nodiscard]] inline std::uint8_t* payload_of(Slot* slot) noexcept
{
    return reinterpret_cast<std::uint8_t*>(slot) + sizeof(Slot);
}

inline constexpr unsigned recorder_rotation = ChunkHeader{}.rotation;
#if defined(__x86_64__)
using RecorderVarints = DepositedVarints;  // without which no log becomes `ready`
#else
using RecorderVarints = PlainVarints;
#endif

// 0: it has no short form.
template <Call call>
[[nodiscard]] __attribute__((always_inline)) inline unsigned encode_shortly(EventEncoder& encoder, std::uint8_t* at,
                                                                            std::uint64_t address, std::uint64_t size,
                                                                            std::uint64_t other) noexcept
{
    if constexpr (call == Call::malloc) {
        return encoder.short_malloc<RecorderVarints, recorder_rotation>(at, address, size);
    } else if constexpr (call == Call::calloc) {
        return encoder.short_calloc<RecorderVarints, recorder_rotation>(at, address, size);
    } else if constexpr (call == Call::realloc) {
        return encoder.short_realloc<RecorderVarints, recorder_rotation>(at, other, address, size);
    } else if constexpr (call == Call::free) {
        return encoder.short_free<RecorderVarints, recorder_rotation>(at, address);
    } else {
        return 0;
    }
}

// The call is known when this is compiled, so that nothing is decided twice. `used` is stored last: what lies before it
// is whole whenever the process dies. Returns the address.
template <Call call>
__attribute__((always_inline)) inline std::uint64_t record(std::uint64_t address, std::uint64_t size = 0,
                                                           std::uint64_t other = 0) noexcept
{
    ThreadLog& log = *current;
    if (log.state != LogState::ready) [[unlikely]] {
        return record_otherwise(call, address, size, other);
    }
    log.state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    unsigned length = 0;
    std::uint32_t* const used = &log.slot->used;
    const std::uint32_t before = *used;
    if (--log.until_stamp >= 0) [[likely]] {
        length = encode_shortly<call>(log.encoder, payload_of(log.slot) + before, address, size, other);
    }
    if (length == 0) [[unlikely]] {
        return record_long(log, call, address, size, other);
    }
    std::atomic_signal_fence(std::memory_order_release);
    *used = before + length;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    log.state = LogState::ready;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.deferred_count != 0) [[unlikely]] {
        return record_deferred(log, address);
    }
    return address;
}

// What `memsweep record` asks the recorder for, in the environment, so that it reaches every program that is started.
//
struct Choice {
    std::uint64_t min_size{};       // bytes, by malloc_usable_size
    std::uint64_t sample{1};        // one address of so many
    std::uint32_t only_child_of{};  // the process that shall be recorded alone is this one's child; 0: all are
    bool counts{};                  // keep no log
    bool on{};
};

// The folder of the recording goes to `folder`; `on` is false when none was given. Allocates nothing; to be called
// before the program has threads.
[[nodiscard]] Choice read_choice(std::span<char> folder) noexcept;

}  // namespace memsweep::trace::recorder
