// The log into which a thread records events. It holds the thread's position in a slot of the process's file. The
// inline code in this header records events that need no setup, stamp or flush. All other events take the slow path, in
// thread_log.cpp.
//
// Cost     some 20 instructions an event.
// Memory   a log per thread, in memory that a forked child finds zeroed. The zeroes tell the child that it is another
//          process and that the slots are its parent's, even after a raw clone(2).
// Threads  a log belongs to the thread whose `current` points to it. If a signal handler interrupts the inline code and
//          allocates, the handler writes its words behind those that the thread has reserved. If it interrupts the slow
//          path, it leaves its events in `deferred`. The thread records these events at the end of the slow path.
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
    std::uint64_t before{};  // the word that holds the event's call stack or caller; 0: there is none
};

// A forked child finds its logs zeroed, and so `unset`.
enum class LogState : std::uint32_t {
    unset = 0,  // not known yet whether to record
    ready,
    recording,  // on the slow path
    selecting,  // ready, but only for the slow path, which chooses the blocks to record
    stopped,    // nothing more can be recorded
    ignored,    // nothing is to be recorded
    counting,   // calls are counted, and no log is kept (counting.hpp)
};

// The part of a log that the inline code reads. `next` and the limits are addresses of words, as numbers; they are zero
// if the thread has no log. A window is a range of words in the slot: a stamp and the events that the stamp covers.
struct LogCursor {
    std::uint64_t next{};                  // the first word that nobody has reserved
    std::uint64_t limit{};                 // the inline code may write words before this one; zero on the slow path
    std::uint64_t limit_of_allocations{};  // the limit for allocations; zero too if they have call stacks
    std::uint64_t unsampled{};    // bytes to allocate until the next block with a stack; zero if stacks are not sampled
    std::uint64_t last_caller{};  // the caller last recorded in the window; 0: none yet
    LogState state{};
    std::uint32_t tick{};  // the shared clock's value when the window's stamp was taken
};

struct alignas(64) ThreadLog : LogCursor {
    std::uint32_t deferred_count;
    std::uint64_t end;  // on the slow path: the end of the recorded words
    std::uint64_t window_begin;
    std::uint64_t window_end;  // words before this one are events or zeroes
    Slot* slot;
    std::uint32_t thread;
    std::uint32_t number;  // number of this log among the image's logs
    bool is_taken;
    bool takes_inline;          // the inline code may write, so `next` is the end of the recorded words
    std::uint64_t noted_begin;  // begin of the object that contains the last noted caller
    std::uint64_t noted_end;
    std::array<CallEvent, 30> deferred;
};

// Never null.  NOLINTNEXTLINE(bugprone-dynamic-static-initializers): __thread has none
extern __thread LogCursor* current __attribute__((tls_model("initial-exec")));

// Makes the log ready for further events, which are recorded behind `end`.
void make_ready(ThreadLog& log, LogState state) noexcept;
// For the slow path: opens a window behind `end`, with room for a stamp and its events, and fills it with zeroes.
void open_window(ThreadLog& log) noexcept;
void put_event(ThreadLog& log, WordEvent event, const std::array<std::uint64_t, max_operands>& values) noexcept;
// Records a call that the inline code does not record. `returns_to`: the call's return address; for map and unmap,
// `other` is the return address. Returns `address`, so that the caller need not save it across this call.
std::uint64_t record_otherwise(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t other,
                               std::uint64_t returns_to) noexcept;
// Records an allocation when only a sample of allocations has stacks. If the block is outside the sample and the
// reserved word at `at` lies in the window, writes the allocation to this word. In all other cases, does the same as
// record_otherwise().
std::uint64_t record_unsampled(Call call, std::uint64_t address, std::uint64_t size, std::uint64_t at,
                               std::uint64_t returns_to) noexcept;
// Records the events in `deferred`.
void record_deferred(ThreadLog& log) noexcept;
// Makes the next event open a window with a new stamp, which is later than now.
void expire_window() noexcept;
// Records the usable sizes of blocks whose allocations the inline code has recorded in the calling thread's window.
void ask_open_window() noexcept;
// Takes the log from the calling thread. The thread's next event gets a new log.
void forget_log() noexcept;
// Takes the log from the calling thread for good.
void go_without_log(LogState state) noexcept;
// Call before a realloc: only then can the recorder find out how large the old block is and whether it is recorded.
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

// Reserves words by one instruction, or by one atomic addition. So a signal handler's words lie either before all of
// the reserved words or behind them, but never between them.
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

// Records a call of a kind that is known at compile time. A word that is reserved but not written counts as no event.
// Returns `address`. The recorded caller is the return address of the function into which this is inlined.
template <Call call>
__attribute__((always_inline)) inline std::uint64_t record(std::uint64_t address, std::uint64_t size = 0,
                                                           std::uint64_t other = 0) noexcept
{
    constexpr WordTag tag = short_form_of(call);
    if constexpr (tag != WordTag::nothing) {
        constexpr std::uint64_t bytes = (call == Call::realloc ? 2 : 1) * sizeof(std::uint64_t);
        LogCursor& log = *current;
        // A signal handler may open another window at this point. That window begins with a stamp where the old one
        // ends. A realloc needs two words, so its limit is read first. Otherwise its second word could overwrite the
        // handler's event.
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

// The options that `memsweep record` gives to the recorder. They are in the environment, so they reach every program
// that is started.
struct Choice {
    std::uint64_t min_size{};       // records only blocks of at least this usable size, in bytes
    std::uint64_t sample{1};        // records the blocks at one in this many addresses
    std::uint32_t only_child_of{};  // only the child of this process is recorded; 0: all processes are
    std::uint32_t home_namespace{};
    bool only_chosen{};            // records only the process that has a file ending in chosen_ending in the folder
    bool counts{};                 // only counts, without a log
    bool stacks{};                 // records the call stacks of allocations
    bool gives_back{};             // finds out at the end how much memory the allocator would give back
    std::uint64_t stacks_every{};  // if not 0, only a sample has stacks: one block per this many bytes on average
    bool on{};

    [[nodiscard]] bool selects() const noexcept { return min_size != 0 || sample > 1; }
    // Whether callers are recorded for blocks without a stack.
    [[nodiscard]] bool callers() const noexcept { return stacks && stacks_every != 0; }
};

// Reads the options, and puts the folder of the recording into `folder`. In the result, `on` is false if no folder was
// given. Allocates nothing. Call before the program has threads.
[[nodiscard]] Choice read_choice(std::span<char> folder) noexcept;

}  // namespace memsweep::trace::recorder
