// Encodes events as the payload of a chunk. Between events, the encoder keeps only the last address and the last stamp.
//
// Each function writes one event at `at` and returns the end of the event. At `at` there must be max_event_bytes of
// space, and for a text its length in addition: a function may write some bytes beyond the end that it returns.
//
// Cost     about 2 ns per event.
// Memory   none.
// Threads  use an encoder in one thread only.
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
    // Begins a new chunk. The arguments are `rotation` and `first_ticks` of the chunk's header.
    constexpr EventEncoder(unsigned rotation, std::uint64_t first_ticks) noexcept
        : last_ticks_{first_ticks}, rotation_{rotation}
    {
    }

    constexpr Byte* free(Byte* at, std::uint64_t address) noexcept { return head(at, Opcode::free, address); }
    constexpr Byte* malloc(Byte* at, std::uint64_t address, std::uint64_t size) noexcept
    {
        return put_varint_at_once(head(at, Opcode::malloc, address), size);
    }
    constexpr Byte* realloc(Byte* at, std::uint64_t old_address, std::uint64_t address, std::uint64_t size) noexcept
    {
        at = difference(head(at, Opcode::realloc, address), old_address);
        return put_varint_at_once(at, size);
    }
    constexpr Byte* aligned_alloc(Byte* at, std::uint64_t address, std::uint64_t size, std::uint64_t alignment) noexcept
    {
        at = sized(at, OtherOperation::aligned_alloc, address, size);
        return put_varint_at_once(at, static_cast<unsigned>(std::bit_width(alignment | 1U)) - 1U);
    }
    // Writes an event of one of these kinds: calloc, map, unmap, external.
    constexpr Byte* sized(Byte* at, OtherOperation operation, std::uint64_t address, std::uint64_t size) noexcept
    {
        return put_varint_at_once(placed(at, operation, address), size);
    }
    // Writes an event of one of these kinds: free_requested, external_end.
    constexpr Byte* placed(Byte* at, OtherOperation operation, std::uint64_t address) noexcept
    {
        return difference(other(at, operation), address);
    }
    // Writes an event of one of these kinds: thread, process, space, stream, thread_start, fork, failed_alloc.
    constexpr Byte* counted(Byte* at, OtherOperation operation, std::uint64_t value) noexcept
    {
        return put_varint_at_once(other(at, operation), value);
    }
    // Writes an event of one of these kinds: thread_exit, exec, process_exit, end_of_chunk.
    constexpr Byte* bare(Byte* at, OtherOperation operation) noexcept { return other(at, operation); }

    // Writes an event of one of these kinds: copy, move.
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

    // Writes a stamp. If `ticks` is earlier than the last stamp, writes the last stamp again.
    constexpr Byte* stamp(Byte* at, std::uint64_t ticks) noexcept
    {
        const std::uint64_t passed = ticks > last_ticks_ ? ticks - last_ticks_ : 0;
        last_ticks_ += passed;
        return counted(at, OtherOperation::stamp, passed);
    }
    [[nodiscard]] constexpr std::uint64_t last_ticks() const noexcept { return last_ticks_; }

  private:
    constexpr Byte* head(Byte* at, Opcode opcode, std::uint64_t address) noexcept
    {
        const std::uint64_t place = rotated(address, rotation_);
        std::uint64_t step = zigzag(place - last_place_);
        if (step >= max_difference) {
            at = counted(at, OtherOperation::base, place);
            step = 0;
        }
        last_place_ = place;
        return put_varint_at_once(at, step << 2U | static_cast<unsigned>(opcode));
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
