// The events of one chunk's payload, one after the other.
//
// Cost     3 to 10 ns an event.
// Memory   none: it reads the payload where it lies.
// Errors   next() ends at the payload's end, and earlier where the payload is not a sequence of events: damaged() is
//          true then.
//
// Ownership  the payload is the caller's and outlives the decoder's events.
#pragma once

#include <span>

#include "core/trace/event.hpp"
#include "core/trace/format/trace_layout.hpp"

namespace memsweep::trace {

class EventDecoder {
  public:
    EventDecoder() = default;
    EventDecoder(const ChunkHeader& header, std::span<const std::uint8_t> payload) noexcept;

    // The next event; false when there is none.
    [[nodiscard]] bool next(Event& event) noexcept;
    [[nodiscard]] bool damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }
    // How many bytes of the payload have been read.
    [[nodiscard]] std::size_t position() const noexcept { return static_cast<std::size_t>(at_ - begin_); }

  private:
    enum class Found { event, context, end, damage };

    Found other(OtherOperation operation, Event& event) noexcept;
    // Each reads what belongs to an event; false where the payload does not hold it.
    bool stamp() noexcept;
    bool sized(Event& event) noexcept;
    bool aligned(Event& event) noexcept;
    bool define_space(Event& event) noexcept;
    bool transfer(Event& event) noexcept;
    bool number(std::uint64_t& value) noexcept;
    bool small_number(std::uint32_t& value) noexcept;
    bool address(std::uint64_t& value) noexcept;
    bool text(std::string_view& value) noexcept;
    Event& begin(EventKind kind, Event& event) const noexcept;

    const std::uint8_t* begin_{};
    const std::uint8_t* at_{};
    const std::uint8_t* end_{};
    std::uint64_t place_{};
    std::uint64_t ticks_{};
    std::uint64_t stream_{};
    std::uint32_t process_{};
    std::uint32_t thread_{};
    std::uint32_t space_{};
    unsigned rotation_{};
    bool damaged_{};
};

}  // namespace memsweep::trace
