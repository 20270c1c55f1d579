#include "core/trace/event_decoder.hpp"

#include <limits>

#include "core/trace/varint.hpp"

namespace memsweep::trace {

EventDecoder::EventDecoder(const ChunkHeader& header, std::span<const std::uint8_t> payload) noexcept
    : begin_{payload.data()}, at_{payload.data()}, end_{payload.data() + payload.size()}, ticks_{header.first_ticks},
      process_{header.process}, thread_{header.thread}, rotation_{header.rotation}
{
}

bool EventDecoder::next(Event& event) noexcept
{
    while (at_ != end_) {
        std::uint64_t head{};
        if (!number(head)) {
            break;
        }
        const auto operation = static_cast<Operation>(head & 3U);
        if (operation == Operation::other) {
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
        if (operation == Operation::free) {
            return true;
        }
        event.kind = EventKind::malloc;
        if (operation == Operation::realloc) {
            event.kind = EventKind::realloc;
            if (!address(event.old_address)) {
                break;
            }
        }
        if (!number(event.size)) {
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
    switch (operation) {
    case OtherOperation::end_of_chunk:
        return Found::end;
    case OtherOperation::stamp:
    case OtherOperation::base:
    case OtherOperation::thread:
    case OtherOperation::process:
    case OtherOperation::space:
    case OtherOperation::stream:
        return context(operation);
    case OtherOperation::define_space:
        return define_space(event);
    case OtherOperation::copy:
        return transfer(EventKind::copy, event);
    case OtherOperation::move:
        return transfer(EventKind::move, event);
    case OtherOperation::calloc:
    case OtherOperation::aligned_alloc:
    case OtherOperation::map:
    case OtherOperation::unmap:
    case OtherOperation::external:
    case OtherOperation::external_end:
    case OtherOperation::free_requested:
        return placed(operation, event);
    default:
        return bare(operation, event);
    }
}

EventDecoder::Found EventDecoder::context(OtherOperation operation) noexcept
{
    std::uint64_t value{};
    switch (operation) {
    case OtherOperation::stamp:
        if (!number(value)) {
            return Found::damage;
        }
        ticks_ += value;
        return Found::context;
    case OtherOperation::base:
        return number(place_) ? Found::context : Found::damage;
    case OtherOperation::thread:
        return small_number(thread_) ? Found::context : Found::damage;
    case OtherOperation::process:
        return small_number(process_) ? Found::context : Found::damage;
    case OtherOperation::space:
        return small_number(space_) ? Found::context : Found::damage;
    default:
        return number(stream_) ? Found::context : Found::damage;
    }
}

EventDecoder::Found EventDecoder::placed(OtherOperation operation, Event& event) noexcept
{
    const EventKind kind = operation == OtherOperation::calloc          ? EventKind::calloc
                           : operation == OtherOperation::aligned_alloc ? EventKind::aligned_alloc
                           : operation == OtherOperation::map           ? EventKind::map
                           : operation == OtherOperation::unmap         ? EventKind::unmap
                           : operation == OtherOperation::external      ? EventKind::external
                           : operation == OtherOperation::external_end  ? EventKind::external_end
                                                                        : EventKind::free_requested;
    begin(kind, event);
    const bool has_size = kind != EventKind::external_end && kind != EventKind::free_requested;
    if (!address(event.address) || (has_size && !number(event.size))) {
        return Found::damage;
    }
    if (kind == EventKind::aligned_alloc) {
        std::uint64_t log2{};
        if (!number(log2) || log2 > 63) {
            return Found::damage;
        }
        event.alignment = 1ULL << log2;
    }
    return Found::event;
}

EventDecoder::Found EventDecoder::bare(OtherOperation operation, Event& event) noexcept
{
    bool read = true;
    switch (operation) {
    case OtherOperation::thread_start:
        begin(EventKind::thread_start, event);
        read = small_number(event.other);
        break;
    case OtherOperation::fork:
        begin(EventKind::fork, event);
        read = small_number(event.other);
        break;
    case OtherOperation::failed_alloc:
        begin(EventKind::failed_alloc, event);
        read = number(event.size);
        break;
    case OtherOperation::label:
        begin(EventKind::label, event);
        read = text(event.text);
        break;
    case OtherOperation::thread_exit:
        begin(EventKind::thread_exit, event);
        break;
    case OtherOperation::exec:
        begin(EventKind::exec, event);
        break;
    default:
        begin(EventKind::process_exit, event);
        break;
    }
    return read ? Found::event : Found::damage;
}

EventDecoder::Found EventDecoder::define_space(Event& event) noexcept
{
    begin(EventKind::define_space, event);
    std::uint64_t kind{};
    if (!small_number(event.space) || !number(kind) || kind > static_cast<unsigned>(SpaceKind::other) ||
        !small_number(event.other) || !text(event.text)) {
        return Found::damage;
    }
    event.space_kind = static_cast<SpaceKind>(kind);
    return Found::event;
}

EventDecoder::Found EventDecoder::transfer(EventKind kind, Event& event) noexcept
{
    begin(kind, event);
    const bool read =
        address(event.address) && address(event.old_address) && number(event.size) && small_number(event.source_space);
    return read ? Found::event : Found::damage;
}

bool EventDecoder::number(std::uint64_t& value) noexcept
{
    if (at_ != end_ && *at_ < 0x80U) {
        value = *at_++;
        return true;
    }
    const std::uint8_t* after = get_varint(at_, end_, value);
    at_ = after != nullptr ? after : at_;
    return after != nullptr;
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

void EventDecoder::begin(EventKind kind, Event& event) const noexcept
{
    event = {.kind = kind, .process = process_, .thread = thread_, .space = space_, .stream = stream_, .ticks = ticks_};
}

}  // namespace memsweep::trace
