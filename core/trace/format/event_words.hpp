// Events as a recorder writes them: whole words of 64 bits, each written by one store. So a call costs a program a
// dozen instructions, and a process may die between any two of them. `memsweep record` turns them into the shorter
// bytes of a trace.
//
//   bits 0-2    WordTag; a word that is zero is nothing
//   bits 3-47   of an address, whose low three bits are zero
//   bits 48-63  a size below 64 KiB
//
// A word of the event `stack` stands directly before the event that it belongs to. Its bits from 11 on are the number
// of a call stack (stack_recording.hpp). In a word of the event `caller`, these bits are a return address. It belongs
// to all following events that give a block and have no stack, up to the next such word or the end of the chunk.
//
// Events that do not fit (other addresses, larger sizes, rarer events) take the long form. Each value is two words
// tagged `operand`: bits 3-34 are the lower half of the value, then the upper half. Then follows the word that says
// what the values are. If no such word follows an operand, the process died in the middle of that call.
//
// Memory   none, and no library: the recorder includes this file.
// Threads  words belong to one thread; a signal handler of that thread may write others in between.
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
    realloc,    // the new address; the old one is the operand before it, in the place of an address
    stamp,      // the other bits are what the clock showed
    long_form,  // the other bits are a WordEvent
    operand,
};

enum class WordEvent : std::uint8_t {
    free,           // address
    malloc,         // address, size
    calloc,         // address, size
    realloc,        // address, size, old address
    aligned_alloc,  // address, size, alignment
    failed_alloc,   // size
    map,            // address, size, number of the module that called (stack_recording.hpp)
    unmap,          // likewise
    thread_start,   // thread
    process,        // process: that of the events that follow
    thread,         // likewise
    fork,           // the child's process
    thread_exit,    // nothing: of the thread that records it
    thread_stack,   // address, size: that of the thread that records it
    usable_size,    // size, alignment (0: malloc's), what malloc_usable_size says of such a block
    stamp,          // ticks; only in the short form
    stack,          // number of the next event's call stack; only in a form of its own
    caller,         // return address of the calls behind the next events that have no stack; likewise
};
inline constexpr unsigned word_events = 18;

inline constexpr unsigned word_size_shift = 48;
inline constexpr unsigned word_tag_bits = 3;
inline constexpr std::size_t max_operands = 3;
// The most words of an event, including that of its stack or of its caller.
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

inline constexpr unsigned word_event_bits = 8;  // behind the tag of a long form; a stack and a caller have more

[[nodiscard]] constexpr std::uint64_t stack_word(std::uint32_t number) noexcept
{
    return std::uint64_t{number} << (word_event_bits + word_tag_bits) |
           static_cast<std::uint64_t>(WordEvent::stack) << word_tag_bits |
           static_cast<std::uint64_t>(WordTag::long_form);
}

// If the address is larger than any of x86-64 with four levels of pages, the word has the bits that fit.
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

// The last word is written last; only then is the event there. Returns the end.
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

// Reads the events of a chunk's words, one after the other.
//
// Cost     about 1 ns an event.
class WordDecoder {
  public:
    explicit WordDecoder(std::span<const std::uint64_t> words) noexcept : words_{words} {}

    // False at the end, or at a word that no recorder writes.
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
