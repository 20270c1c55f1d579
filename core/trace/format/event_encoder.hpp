// Events as bytes of one chunk's payload. It keeps the last address and stamp and nothing else, so that a recorder can
// hold one per thread and use it inside malloc.
//
// Cost     about 2 ns an event; the short forms about 1.
// Memory   none; each call writes at most max_event_bytes (a text: and its length) at the place it is given; some
//          of them beyond the end that it returns.
// Threads  one encoder belongs to one thread.
#pragma once

#include <cstring>
#include <string_view>

#include "core/trace/format/trace_layout.hpp"
#include "core/trace/format/varint.hpp"

namespace memsweep::trace {

inline constexpr std::size_t max_event_bytes = 8 * max_varint_bytes;

class EventEncoder {
  public:
    using Byte = std::uint8_t;

    constexpr EventEncoder() = default;
    // What a new chunk begins with: its header's rotation and first_ticks.
    constexpr EventEncoder(unsigned rotation, std::uint64_t first_ticks) noexcept
        : last_ticks_{first_ticks}, rotation_{rotation}
    {
    }

    constexpr Byte* free(Byte* at, std::uint64_t address) noexcept { return head(at, Operation::free, address); }
    constexpr Byte* malloc(Byte* at, std::uint64_t address, std::uint64_t size) noexcept
    {
        return put_varint_at_once(head(at, Operation::malloc, address), size);
    }
    constexpr Byte* realloc(Byte* at, std::uint64_t old_address, std::uint64_t address, std::uint64_t size) noexcept
    {
        at = difference(head(at, Operation::realloc, address), old_address);
        return put_varint_at_once(at, size);
    }
    constexpr Byte* aligned_alloc(Byte* at, std::uint64_t address, std::uint64_t size, std::uint64_t alignment) noexcept
    {
        at = sized(at, OtherOperation::aligned_alloc, address, size);
        return put_varint_at_once(at, static_cast<unsigned>(std::bit_width(alignment | 1U)) - 1U);
    }
    // calloc, map, unmap, external
    constexpr Byte* sized(Byte* at, OtherOperation operation, std::uint64_t address, std::uint64_t size) noexcept
    {
        return put_varint_at_once(placed(at, operation, address), size);
    }
    // free_requested, external_end
    constexpr Byte* placed(Byte* at, OtherOperation operation, std::uint64_t address) noexcept
    {
        return difference(other(at, operation), address);
    }
    // thread, process, space, stream, thread_start, fork, failed_alloc
    constexpr Byte* counted(Byte* at, OtherOperation operation, std::uint64_t value) noexcept
    {
        return put_varint_at_once(other(at, operation), value);
    }
    // thread_exit, exec, process_exit, end_of_chunk
    constexpr Byte* bare(Byte* at, OtherOperation operation) noexcept { return other(at, operation); }

    // copy, move
    constexpr Byte* transfer(Byte* at, OtherOperation operation, std::uint64_t to, std::uint64_t from,
                             std::uint64_t size, std::uint64_t source_space) noexcept
    {
        at = difference(placed(at, operation, to), from);
        return put_varint_at_once(put_varint_at_once(at, size), source_space);
    }
    Byte* label(Byte* at, std::string_view text) noexcept { return put_text(other(at, OtherOperation::label), text); }
    Byte* define_space(Byte* at, std::uint64_t index, std::uint64_t kind, std::uint64_t device,
                       std::string_view name) noexcept
    {
        at = put_varint_at_once(put_varint_at_once(counted(at, OtherOperation::define_space, index), kind), device);
        return put_text(at, name);
    }

    // The commonest events where their numbers are small, as they nearly always are (addresses less than some 256 MiB
    // from the one before, sizes below 16 KiB): how many bytes were written, or 0 where they are not, and nothing has
    // changed. `rotation` is the chunk's, known when this is compiled; Varints are PlainVarints or DepositedVarints.
    template <typename Varints, unsigned rotation>
    unsigned short_free(Byte* at, std::uint64_t address) noexcept
    {
        std::uint64_t step{};
        return steps_shortly<rotation>(address, end_of_short_heads, step)
                   ? put_short_head<Varints>(at, Operation::free, step)
                   : 0;
    }
    template <typename Varints, unsigned rotation>
    unsigned short_malloc(Byte* at, std::uint64_t address, std::uint64_t size) noexcept
    {
        std::uint64_t step{};
        if (size >= end_of_halves || !steps_shortly<rotation>(address, end_of_short_heads, step)) [[unlikely]] {
            return 0;
        }
        const unsigned head = put_short_head<Varints>(at, Operation::malloc, step);
        return head + Varints::put_half(at + head, static_cast<std::uint32_t>(size));
    }
    template <typename Varints, unsigned rotation>
    unsigned short_calloc(Byte* at, std::uint64_t address, std::uint64_t size) noexcept
    {
        std::uint64_t step{};
        if (size >= end_of_halves || !steps_shortly<rotation>(address, end_of_words, step)) [[unlikely]] {
            return 0;
        }
        *at = static_cast<Byte>(static_cast<unsigned>(OtherOperation::calloc) << 2U);
        const unsigned head = 1 + Varints::put_word(at + 1, static_cast<std::uint32_t>(step));
        return head + Varints::put_half(at + head, static_cast<std::uint32_t>(size));
    }
    template <typename Varints, unsigned rotation>
    unsigned short_realloc(Byte* at, std::uint64_t old_address, std::uint64_t address, std::uint64_t size) noexcept
    {
        const std::uint64_t place = rotated(address, rotation);
        const std::uint64_t old_place = rotated(old_address, rotation);
        const std::uint64_t step = zigzag(place - last_place_);
        const std::uint64_t step_back = zigzag(old_place - place);
        if (step >= end_of_short_heads || step_back >= end_of_words || size >= end_of_halves) [[unlikely]] {
            return 0;
        }
        last_place_ = old_place;
        unsigned length = put_short_head<Varints>(at, Operation::realloc, step);
        length += Varints::put_word(at + length, static_cast<std::uint32_t>(step_back));
        return length + Varints::put_half(at + length, static_cast<std::uint32_t>(size));
    }

    // A clock that stepped back stays where it was.
    constexpr Byte* stamp(Byte* at, std::uint64_t ticks) noexcept
    {
        const std::uint64_t passed = ticks > last_ticks_ ? ticks - last_ticks_ : 0;
        last_ticks_ += passed;
        return counted(at, OtherOperation::stamp, passed);
    }
    [[nodiscard]] constexpr std::uint64_t last_ticks() const noexcept { return last_ticks_; }

  private:
    // One less than they might be: a comparison with a power of two is compiled into a shift and two instructions more.
    static constexpr std::uint64_t end_of_words = (1U << word_varint_bits) - 1;
    static constexpr std::uint64_t end_of_halves = (1U << half_varint_bits) - 1;
    static constexpr std::uint64_t end_of_short_heads = (1U << (word_varint_bits - 2)) - 1;
    // Goes on to this address, where it is so near.
    template <unsigned rotation>
    bool steps_shortly(std::uint64_t address, std::uint64_t end, std::uint64_t& step) noexcept
    {
        const std::uint64_t place = rotated(address, rotation);
        step = zigzag(place - last_place_);
        if (step >= end) [[unlikely]] {
            return false;
        }
        last_place_ = place;
        return true;
    }
    template <typename Varints>
    static unsigned put_short_head(Byte* at, Operation operation, std::uint64_t step) noexcept
    {
        return Varints::put_word(at, static_cast<std::uint32_t>(step << 2U) | static_cast<unsigned>(operation));
    }
    constexpr Byte* head(Byte* at, Operation operation, std::uint64_t address) noexcept
    {
        const std::uint64_t place = rotated(address, rotation_);
        std::uint64_t step = zigzag(place - last_place_);
        if (step >= max_difference) {
            at = counted(at, OtherOperation::base, place);
            step = 0;
        }
        last_place_ = place;
        return put_varint_at_once(at, step << 2U | static_cast<unsigned>(operation));
    }
    constexpr Byte* other(Byte* at, OtherOperation operation) noexcept
    {
        *at++ = static_cast<Byte>(static_cast<unsigned>(operation) << 2U);
        return at;
    }
    constexpr Byte* difference(Byte* at, std::uint64_t address) noexcept
    {
        const std::uint64_t place = rotated(address, rotation_);
        at = put_varint_at_once(at, zigzag(place - last_place_));
        last_place_ = place;
        return at;
    }
    static Byte* put_text(Byte* at, std::string_view text) noexcept
    {
        at = put_varint_at_once(at, text.size());
        if (!text.empty()) {
            std::memcpy(at, text.data(), text.size());
        }
        return at + text.size();
    }

    std::uint64_t last_place_{};
    std::uint64_t last_ticks_{};
    unsigned rotation_{4};
};

}  // namespace memsweep::trace
