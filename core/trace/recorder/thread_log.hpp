// The log into which a thread records: its place in a slot of the process's file. The inline code serves events for
// which nothing is to be set up, stamped or flushed. The longer way is in thread_log.cpp.
//
// Cost     some 20 instructions an event.
// Memory   a log per thread, in memory that a forked child finds zeroed. The zeroes tell the child, also after a raw
//          clone(2), that it is another process and that the slots are its parent's.
// Threads  a log belongs to the thread whose `current` it is. A signal handler may allocate while its thread is in the
//          inline code: then it writes its words behind those that the thread has reserved. If the thread is on the
//          longer way, the handler leaves its events in `deferred`, and the thread records them when it is done.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/trace/format/event_words.hpp"
#include "core/trace/format/recording_layout.hpp"
#include "core/trace/recorder/shared_clock.hpp"

namespace memsweep::trace::recorder {

using Call = WordEvent;

struct CallEvent {
    Call call{};
    std::uint64_t address{};
    std::uint64_t size{};
    std::uint64_t other{};   // realloc: the old address; aligned_alloc: the alignment; map, unmap: the calling module
    std::uint64_t before{};  // the word of its call stack, or of its caller; 0: it has none
};

// A wiped page reads as zero.
enum class LogState : std::uint32_t {
    unset = 0,  // not asked yet whether to record
    ready,
    recording,  // on the longer way
    selecting,  // ready, but not for the inline code: blocks are chosen
    stopped,    // nothing more can be recorded
    ignored,    // nothing is to be recorded
    counting,   // no log is kept (counting.hpp)
};

// All that the inline code looks at. Addresses of words, as numbers; zero without a log.
struct LogCursor {
    std::uint64_t next{};                  // the first word that nobody has reserved
    std::uint64_t limit{};                 // words before it may be written inline; zero on the longer way
    std::uint64_t limit_of_allocations{};  // likewise, for allocations; also zero if they have call stacks
    std::uint64_t unsampled{};             // bytes before the next block with a stack; zero unless stacks are sampled
    std::uint64_t last_caller{};           // the caller in the window's last such word; 0: there is none
    LogState state{};
    std::uint32_t tick{};  // of the shared clock, when the window's stamp was taken
};

struct alignas(64) ThreadLog : LogCursor {
    std::uint32_t deferred_count;
    std::uint64_t end;  // on the longer way: the end of what is recorded
    std::uint64_t window_begin;
    std::uint64_t window_end;  // up to here words are events or zeroes
    Slot* slot;
    std::uint32_t thread;
    std::uint32_t number;  // among the image's
    bool is_taken;
    bool takes_inline;          // words are written inline, so `next` tells what has been written since
    std::uint64_t noted_begin;  // begin of the object that was last looked up among the noted ones
    std::uint64_t noted_end;
    std::array<CallEvent, 30> deferred;
};

// Never null.  NOLINTNEXTLINE(bugprone-dynamic-static-initializers): __thread has none
extern __thread LogCursor* current __attribute__((tls_model("initial-exec")));

// From here on events are recorded behind `end`.
void make_ready(ThreadLog& log, LogState state) noexcept;
// Called on the longer way: writes zeroes for a stamp and the events under it, and what a stream begins with.
void open_window(ThreadLog& log) noexcept;
void put_event(ThreadLog& log, WordEvent event, const std::array<std::uint64_t, max_operands>& values) noexcept;
// Records calls that the inline code does not take, and where they return to (for map and unmap, `other` says that).
// Returns the address, so that the caller need not keep it over the call.
std::uint64_t record_otherwise(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t other,
                               std::uint64_t returns_to) noexcept;
// As record_otherwise(), for a block outside the sample. Uses the word reserved at `at`, if that is in the window.
std::uint64_t record_unsampled(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t at,
                               std::uint64_t returns_to) noexcept;
void record_deferred(ThreadLog& log) noexcept;
// The next event has a stamp of its own, which comes after now.
void expire_window() noexcept;
// Asks the usable sizes of the blocks that the calling thread has recorded inline last.
void ask_open_window() noexcept;
// The thread has no log any more: the next event looks for one.
void forget_log() noexcept;
// The thread has no log and shall not look for one.
void go_without_log(LogState state) noexcept;
// Call before a realloc, while the old block can still be asked how large it is, or whether it is recorded.
void prepare_realloc(void* block) noexcept;
// Call after a realloc that failed: the old block is still there.
void record_failed_realloc(void* block, std::uint64_t bytes) noexcept;

[[nodiscard]] inline std::uint64_t payload_of(const Slot* slot) noexcept
{
    return reinterpret_cast<std::uint64_t>(slot) + sizeof(Slot);
}

[[nodiscard]] inline std::uint64_t* word_at(std::uint64_t address) noexcept
{
    return reinterpret_cast<std::uint64_t*>(address);  // NOLINT(performance-no-int-to-ptr): in a slot
}

// Reserves by one instruction. So a signal handler reserves its words either before these or behind them.
[[nodiscard]] __attribute__((always_inline)) inline std::uint64_t reserve(LogCursor& log, std::uint64_t bytes) noexcept
{
#if defined(__x86_64__)
    __asm__("xaddq %0, %1" : "+r"(bytes), "+m"(log.next) : : "cc");
    return bytes;
#else
    return std::atomic_ref{log.next}.fetch_add(bytes, std::memory_order_relaxed);
#endif
}

[[nodiscard]] inline std::uint64_t place_of_return(const void* address) noexcept
{
    return reinterpret_cast<std::uint64_t>(address);
}

constexpr WordTag short_form_of(Call call) noexcept
{
    switch (call) {
    case Call::free:
        return WordTag::free;
    case Call::malloc:
        return WordTag::malloc;
    case Call::calloc:
        return WordTag::calloc;
    case Call::realloc:
        return WordTag::realloc;
    default:
        return WordTag::nothing;
    }
}

// Records a call that is known when this is compiled, so nothing is decided twice. A word that is reserved and not
// written counts as nothing. Returns the address. The recorded caller is the return address of the function that
// inlines this.
template <Call call>
__attribute__((always_inline)) inline std::uint64_t record(std::uint64_t address, std::uint64_t size = 0,
                                                           std::uint64_t other = 0) noexcept
{
    constexpr WordTag tag = short_form_of(call);
    if constexpr (tag != WordTag::nothing) {
        constexpr std::uint64_t bytes = (call == Call::realloc ? 2 : 1) * sizeof(std::uint64_t);
        LogCursor& log = *current;
        // A handler may open another window in between. That window begins with a stamp where this one ends. If this
        // call writes two words, the second would stand in the place of the handler's event.
        const std::uint32_t tick = log.tick;
        std::uint64_t limit = 0;
        if constexpr (call == Call::realloc) {
            limit = log.limit_of_allocations;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const std::uint64_t at = reserve(log, bytes);
        if constexpr (call != Call::realloc) {
            limit = call == Call::free ? log.limit : log.limit_of_allocations;
        }
        if (at + (bytes - sizeof(std::uint64_t)) < limit && tick == last_tick()) [[likely]] {
            const bool fits = fits_word(address, size) && (call != Call::realloc || fits_word(other));
            if (fits) [[likely]] {
                std::uint64_t* to = word_at(at);
                if constexpr (call == Call::realloc) {
                    *to++ = word_of(WordTag::operand, other);
                    std::atomic_signal_fence(std::memory_order_release);
                }
                *to = word_of(tag, address, size);
                return address;
            }
        }
        if constexpr (call == Call::malloc || call == Call::calloc) {
            return record_unsampled(call, address, size, at, place_of_return(__builtin_return_address(0)));
        }
    }
    return record_otherwise(call, address, size, other, place_of_return(__builtin_return_address(0)));
}

// The orders of `memsweep record` to the recorder. They stand in the environment, so they reach every program that is
// started.
struct Choice {
    std::uint64_t min_size{};       // bytes, by malloc_usable_size
    std::uint64_t sample{1};        // one address of so many
    std::uint32_t only_child_of{};  // only the child of this process is recorded; 0: all processes are
    std::uint32_t home_namespace{};
    bool only_chosen{};            // only the process that has a file of the ending chosen_ending is recorded
    bool counts{};                 // keep no log
    bool stacks{};                 // of allocations
    bool gives_back{};             // try at the end what the allocator would return
    std::uint64_t stacks_every{};  // only for a sample of them, so many bytes apart on average; 0: for all
    bool on{};

    [[nodiscard]] bool selects() const noexcept { return min_size != 0 || sample > 1; }
    // Whether callers are recorded for blocks without a stack.
    [[nodiscard]] bool callers() const noexcept { return stacks && stacks_every != 0; }
};

// Puts the folder of the recording into `folder`; `on` is false if none was given. Allocates nothing. Call before the
// program has threads.
[[nodiscard]] Choice read_choice(std::span<char> folder) noexcept;

}  // namespace memsweep::trace::recorder
