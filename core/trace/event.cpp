#include "core/trace/event.hpp"

#include <limits>

#include "core/trace/format/varint.hpp"

namespace memsweep::trace {

EventDecoder::EventDecoder(const ChunkHeader& header, std::span<const std::uint8_t> payload) noexcept
    : begin_{payload.data()}, at_{payload.data()}, end_{payload.data() + payload.size()}, ticks_{header.first_ticks},
      process_{header.process}, thread_{header.thread}, rotation_{header.rotation}
{
}

// Every event is two to four numbers, most of them of one byte: calling it takes a seventh of the time to read a trace.
[[gnu::always_inline]] inline bool EventDecoder::number(std::uint64_t& value) noexcept
{
    if (at_ != end_ && *at_ < 0x80U) {
        value = *at_++;
        return true;
    }
    const std::uint8_t* after = get_varint(at_, end_, value);
    at_ = after != nullptr ? after : at_;
    return after != nullptr;
}

bool EventDecoder::next(Event& event) noexcept
{
    while (at_ != end_) {
        std::uint64_t head{};
        if (!number(head)) {
            break;
        }
        const auto opcode = static_cast<Opcode>(head & 3U);
        if (opcode == Opcode::other) {
            const Found found =
                head >> 2U < other_operations ? other(static_cast<OtherOperation>(head >> 2U), event) : Found::damage;
            if (found == Found::event) {
                return true;
            }
            if (found == Found::context) {
                continue;
            }
            damaged_ = found == Found::damage;
            at_ = end_;
            return false;
        }
        place_ += unzigzag(head >> 2U);
        begin(EventKind::free, event);
        event.address = unrotated(place_, rotation_);
        if (opcode == Opcode::free) {
            return true;
        }
        event.kind = EventKind::malloc;
        if (opcode == Opcode::realloc) {
            event.kind = EventKind::realloc;
            if (!address(event.old_address)) {
                damaged_ = true;
                break;
            }
        }
        if (!number(event.size)) {
            damaged_ = true;
            break;
        }
        return true;
    }
    damaged_ = damaged_ || at_ != end_;
    at_ = end_;
    return false;
}

EventDecoder::Found EventDecoder::other(OtherOperation operation, Event& event) noexcept
{
    const auto context = [](bool read) { return read ? Found::context : Found::damage; };
    const auto found = [](bool read) { return read ? Found::event : Found::damage; };
    switch (operation) {
    case OtherOperation::end_of_chunk:
        return Found::end;
    case OtherOperation::stamp:
        return context(stamp());
    case OtherOperation::base:
        return context(number(place_));
    case OtherOperation::thread:
        return context(small_number(thread_));
    case OtherOperation::process:
        return context(small_number(process_));
    case OtherOperation::space:
        return context(small_number(space_));
    case OtherOperation::stream:
        return context(number(stream_));
    case OtherOperation::define_space:
        return found(define_space(event));
    case OtherOperation::calloc:
        return found(sized(begin(EventKind::calloc, event)));
    case OtherOperation::aligned_alloc:
        return found(aligned(begin(EventKind::aligned_alloc, event)));
    case OtherOperation::map:
        return found(sized(begin(EventKind::map, event)));
    case OtherOperation::unmap:
        return found(sized(begin(EventKind::unmap, event)));
    case OtherOperation::thread_start:
        return found(small_number(begin(EventKind::thread_start, event).other));
    case OtherOperation::thread_exit:
        begin(EventKind::thread_exit, event);
        return Found::event;
    case OtherOperation::fork:
        return found(small_number(begin(EventKind::fork, event).other));
    case OtherOperation::exec:
        begin(EventKind::exec, event);
        return Found::event;
    case OtherOperation::process_exit:
        begin(EventKind::process_exit, event);
        return Found::event;
    case OtherOperation::label:
        return found(text(begin(EventKind::label, event).text));
    case OtherOperation::copy:
        return found(transfer(begin(EventKind::copy, event)));
    case OtherOperation::move:
        return found(transfer(begin(EventKind::move, event)));
    case OtherOperation::failed_alloc:
        return found(number(begin(EventKind::failed_alloc, event).size));
    case OtherOperation::free_requested:
        return found(address(begin(EventKind::free_requested, event).address));
    case OtherOperation::external:
        return found(sized(begin(EventKind::external, event)));
    case OtherOperation::external_end:
        return found(address(begin(EventKind::external_end, event).address));
    }
    return Found::damage;
}

bool EventDecoder::stamp() noexcept
{
    std::uint64_t passed{};
    if (!number(passed)) {
        return false;
    }
    ticks_ += passed;
    return true;
}

bool EventDecoder::sized(Event& event) noexcept
{
    return address(event.address) && number(event.size);
}

bool EventDecoder::aligned(Event& event) noexcept
{
    std::uint64_t log2{};
    if (!sized(event) || !number(log2) || log2 > 63) {
        return false;
    }
    event.alignment = 1ULL << log2;
    return true;
}

bool EventDecoder::define_space(Event& event) noexcept
{
    begin(EventKind::define_space, event);
    std::uint64_t kind{};
    if (!small_number(event.space) || !number(kind) || kind > static_cast<unsigned>(SpaceKind::other) ||
        !small_number(event.other) || !text(event.text)) {
        return false;
    }
    event.space_kind = static_cast<SpaceKind>(kind);
    return true;
}

bool EventDecoder::transfer(Event& event) noexcept
{
    return address(event.address) && address(event.old_address) && number(event.size) &&
           small_number(event.source_space);
}

bool EventDecoder::small_number(std::uint32_t& value) noexcept
{
    std::uint64_t wide{};
    if (!number(wide) || wide > std::numeric_limits<std::uint32_t>::max()) {
        return false;
    }
    value = static_cast<std::uint32_t>(wide);
    return true;
}

bool EventDecoder::address(std::uint64_t& value) noexcept
{
    std::uint64_t step{};
    if (!number(step)) {
        return false;
    }
    place_ += unzigzag(step);
    value = unrotated(place_, rotation_);
    return true;
}

bool EventDecoder::text(std::string_view& value) noexcept
{
    std::uint64_t bytes{};
    if (!number(bytes) || bytes > static_cast<std::uint64_t>(end_ - at_)) {
        return false;
    }
    value = {reinterpret_cast<const char*>(at_), static_cast<std::size_t>(bytes)};
    at_ += bytes;
    return true;
}

Event& EventDecoder::begin(EventKind kind, Event& event) const noexcept
{
    event = {.kind = kind, .process = process_, .thread = thread_, .space = space_, .stream = stream_, .ticks = ticks_};
    return event;
}

}  // namespace memsweep::trace
