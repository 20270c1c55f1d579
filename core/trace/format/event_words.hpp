// The form in which the recorder writes events: words of 64 bits, each written by one store instruction. To write an
// event takes the program a dozen instructions, and the words are valid even if the process is killed between two
// instructions. `memsweep record` converts the words to the shorter encoding of a trace.
//
// The short form of an event is one word:
//
//   bits 0-2    WordTag; a word of 0 is empty
//   bits 3-47   bits 3-47 of the address; its other bits are zero
//   bits 48-63  the size, below 64 KiB
//
// The long form is for events that do not fit: other addresses, larger sizes, rare events. Each value of the event is
// two words with the tag `operand`: bits 3-34 of the first word are the lower half of the value, bits 3-34 of the
// second word the upper half. After the operands comes a word with the tag `long_form`, which says the kind of event.
// If this last word is missing, the process was killed in the middle of the call.
//
// Two events have a form of their own, one word with the tag `long_form` and their value in bits 11-63:
//
//   stack       the number of a call stack (stack_recording.hpp), for the event that follows directly
//   caller      a return address, for all following events that return a block and have no stack, up to the next
//               `caller` or the end of the chunk
//
// Memory   none. The recorder includes this header, so it must not depend on any library.
// Threads  each thread writes words of its own. A signal handler that interrupts a thread may write the words of other
//          events between the words of one event.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace memsweep::trace {

enum class WordTag : std::uint8_t {
    nothing = 0,
    free,
    malloc,
    calloc,
    realloc,    // the new address; an `operand` word before it has the old address, in bits 3-47
    stamp,      // the other bits are the ticks of the clock
    long_form,  // the other bits are a WordEvent
    operand,    // half of a value of the event that follows
};

// The kinds of events, and their values in order.
enum class WordEvent : std::uint8_t {
    free,           // address
    malloc,         // address, size
    calloc,         // address, size
    realloc,        // address, size, old address
    aligned_alloc,  // address, size, alignment
    failed_alloc,   // size
    map,            // address, size, number of the module that called (stack_recording.hpp)
    unmap,          // address, size, number of the module that called
    thread_start,   // number of the new thread
    process,        // number of the process to which the events that follow belong
    thread,         // number of the thread to which the events that follow belong
    fork,           // number of the child process
    thread_exit,    // no values: the thread that records it ends
    thread_stack,   // address, size: the stack of the thread that records it
    usable_size,    // size, alignment (0: malloc's), what malloc_usable_size returns for such a block
    stamp,          // ticks; only in the short form
    stack,          // number of a call stack; only in its own form
    caller,         // return address; only in its own form
};
inline constexpr unsigned word_events = 18;

inline constexpr unsigned word_size_shift = 48;
inline constexpr unsigned word_tag_bits = 3;
inline constexpr std::size_t max_operands = 3;
// The most words that an event takes, including the word of its stack or caller.
inline constexpr std::size_t max_event_words = 2 * max_operands + 2;

[[nodiscard]] constexpr std::size_t operands_of(WordEvent event) noexcept
{
    constexpr std::array<std::uint8_t, word_events> counts{1, 2, 2, 3, 3, 1, 3, 3, 1, 1, 1, 1, 0, 2, 3, 0, 0, 0};
    return counts[static_cast<std::size_t>(event)];
}

[[nodiscard]] constexpr bool fits_word(std::uint64_t address, std::uint64_t size = 0) noexcept
{
    return (std::rotr(address, word_tag_bits) >> (word_size_shift - word_tag_bits) | size >> (64U - word_size_shift)) ==
           0;
}

[[nodiscard]] constexpr std::uint64_t word_of(WordTag tag, std::uint64_t address, std::uint64_t size = 0) noexcept
{
    return address | size << word_size_shift | static_cast<std::uint64_t>(tag);
}

[[nodiscard]] constexpr std::uint64_t stamp_word(std::uint64_t ticks) noexcept
{
    return ticks << word_tag_bits | static_cast<std::uint64_t>(WordTag::stamp);
}

// How many bits the WordEvent after the tag `long_form` has. In words of `stack` and `caller`, the bits above the
// WordEvent are the value.
inline constexpr unsigned word_event_bits = 8;

[[nodiscard]] constexpr std::uint64_t stack_word(std::uint32_t number) noexcept
{
    return std::uint64_t{number} << (word_event_bits + word_tag_bits) |
           static_cast<std::uint64_t>(WordEvent::stack) << word_tag_bits |
           static_cast<std::uint64_t>(WordTag::long_form);
}

// If an address has more than 53 bits, its upper bits are lost. Addresses of programs on x86-64 with four-level page
// tables have 47 bits.
[[nodiscard]] constexpr std::uint64_t caller_word(std::uint64_t address) noexcept
{
    return address << (word_event_bits + word_tag_bits) |
           static_cast<std::uint64_t>(WordEvent::caller) << word_tag_bits |
           static_cast<std::uint64_t>(WordTag::long_form);
}

[[nodiscard]] constexpr bool is_caller_word(std::uint64_t word) noexcept
{
    constexpr std::uint64_t kind = (1U << (word_event_bits + word_tag_bits)) - 1U;
    return (word & kind) == caller_word(0);
}

[[nodiscard]] constexpr std::uint64_t caller_in(std::uint64_t word) noexcept
{
    return word >> (word_event_bits + word_tag_bits);
}

// Writes an event in the long form at `at` and returns its end. The event counts only after its last word is written.
inline std::uint64_t* put_long_form(std::uint64_t* at, WordEvent event,
                                    const std::array<std::uint64_t, max_operands>& values) noexcept
{
    constexpr std::uint64_t half = 0xFFFFFFFFU;
    for (std::size_t i = 0; i < operands_of(event); ++i) {
        *at++ = (values[i] & half) << word_tag_bits | static_cast<std::uint64_t>(WordTag::operand);
        *at++ = values[i] >> 32U << word_tag_bits | static_cast<std::uint64_t>(WordTag::operand);
    }
    std::atomic_signal_fence(std::memory_order_release);
    *at++ = static_cast<std::uint64_t>(event) << word_tag_bits | static_cast<std::uint64_t>(WordTag::long_form);
    return at;
}

// Decodes the words of a chunk, one event after another.
//
// Cost     about 1 ns per event.
class WordDecoder {
  public:
    explicit WordDecoder(std::span<const std::uint64_t> words) noexcept : words_{words} {}

    // Reads the next event. Returns false at the end of the words. At words that no recorder writes, it also returns
    // false, and damaged() is true from then on.
    bool next(WordEvent& event, std::array<std::uint64_t, max_operands>& values) noexcept;
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }

  private:
    bool take_long_form(std::uint64_t word, WordEvent& event, std::array<std::uint64_t, max_operands>& values) noexcept;

    std::span<const std::uint64_t> words_;
    std::size_t at_{};
    std::array<std::uint64_t, 2 * max_operands> operands_{};
    std::size_t operand_count_{};
    bool damaged_{};
};

}  // namespace memsweep::trace
