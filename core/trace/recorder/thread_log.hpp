// What a thread records into: its place in a slot of the process's file. The way an event takes when nothing is to be
// set up, stamped or flushed is inline; the rest is in thread_log.cpp.
//
// Cost     3 to 5 ns an event.
// Memory   a log per slot, in memory that a forked child finds zeroed: that is how it learns that it is another
//          process, also after a raw clone(2), and the slots are its parent's.
// Threads  a log belongs to the thread that it is the `current` one of. A signal handler that allocates while its
//          thread is recording leaves its events in `deferred`, and the thread records them when it is done.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "core/trace/recording_layout.hpp"

namespace memsweep::trace::recorder {

enum class Call : std::uint8_t { malloc, calloc, realloc, free, aligned_alloc, failed_alloc, map, unmap, exec };

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
    selecting,  // ready, and each block is asked whether it is one to record
    stopped,    // nothing more can be recorded
    ignored,    // nothing is to be recorded
};

struct alignas(64) ThreadLog {
    std::uint8_t* at;
    Slot* slot;
    EventEncoder encoder;
    std::int32_t until_stamp;  // so many events more under the last stamp
    LogState state;
    std::uint32_t deferred_count;
    std::uint32_t thread;
    bool is_taken;
    std::array<CallEvent, 30> deferred;
};

// Never null.  NOLINTNEXTLINE(bugprone-dynamic-static-initializers): __thread has none
extern __thread ThreadLog* current __attribute__((tls_model("initial-exec")));

// Room, and a stamp; false when the recording has stopped.
[[nodiscard]] bool renew(ThreadLog& log) noexcept;
// In every state but `ready`.
void record_otherwise(const CallEvent& event) noexcept;
void record_deferred(ThreadLog& log) noexcept;
// Before a realloc, while the old block can be asked: whether it is one that is recorded.
void prepare_realloc(void* block) noexcept;

[[nodiscard]] inline std::uint8_t* payload_of(Slot* slot) noexcept
{
    return reinterpret_cast<std::uint8_t*>(slot) + sizeof(Slot);
}

[[nodiscard]] __attribute__((always_inline)) inline std::uint8_t* encode(EventEncoder& encoder, std::uint8_t* at,
                                                                         const CallEvent& event) noexcept
{
    switch (event.call) {
    case Call::malloc:
        return encoder.malloc(at, event.address, event.size);
    case Call::calloc:
        return encoder.sized(at, OtherOperation::calloc, event.address, event.size);
    case Call::realloc:
        return encoder.realloc(at, event.other, event.address, event.size);
    case Call::free:
        return encoder.free(at, event.address);
    case Call::aligned_alloc:
        return encoder.aligned_alloc(at, event.address, event.size, event.other);
    case Call::failed_alloc:
        return encoder.counted(at, OtherOperation::failed_alloc, event.size);
    case Call::map:
        return encoder.sized(at, OtherOperation::map, event.address, event.size);
    case Call::unmap:
        return encoder.sized(at, OtherOperation::unmap, event.address, event.size);
    case Call::exec:
        return encoder.bare(at, OtherOperation::exec);
    }
    return at;
}

// `used` is stored last: what lies before it is whole whenever the process dies.
__attribute__((always_inline)) inline void append(ThreadLog& log, const CallEvent& event) noexcept
{
    if (--log.until_stamp < 0 && !renew(log)) [[unlikely]] {
        return;
    }
    log.at = encode(log.encoder, log.at, event);
    std::atomic_signal_fence(std::memory_order_release);
    log.slot->used = static_cast<std::uint32_t>(log.at - payload_of(log.slot));
}

__attribute__((always_inline)) inline void record(const CallEvent& event) noexcept
{
    ThreadLog& log = *current;
    if (log.state != LogState::ready) [[unlikely]] {
        record_otherwise(event);
        return;
    }
    log.state = LogState::recording;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    append(log, event);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (log.deferred_count != 0) [[unlikely]] {
        record_deferred(log);
    }
    if (log.state == LogState::recording) [[likely]] {
        log.state = LogState::ready;
    }
}

}  // namespace memsweep::trace::recorder
