#include "core/transfer/unified_buffer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/base/quantity.hpp"

namespace memsweep::model {

using transfer::BufferRequest;
using transfer::BufferState;

template <>
std::span<const Named<BufferState>> names<BufferState>()
{
    static constexpr std::array<Named<BufferState>, 7> table{{
        {BufferState::uninitialized, "uninitialized", "no memory yet, on neither side"},
        {BufferState::host_only, "host_only", "on the host, which alone has memory or current contents"},
        {BufferState::device_only, "device_only", "on the device, which alone has memory or current contents"},
        {BufferState::synchronized, "synchronized", "the same on both sides"},
        {BufferState::host_dirty, "host_dirty", "the host has written since both were the same"},
        {BufferState::device_dirty, "device_dirty", "the device has written since both were the same"},
        {BufferState::released, "released", "given back: nothing may be asked of it"},
    }};
    return table;
}

template <>
std::span<const Named<BufferRequest>> names<BufferRequest>()
{
    static constexpr std::array<Named<BufferRequest>, 8> table{{
        {BufferRequest::ensure_host, "ensure_host", "the host is to read what is current"},
        {BufferRequest::ensure_device, "ensure_device", "the device is to read what is current"},
        {BufferRequest::synchronize, "synchronize", "both sides are to be the same"},
        {BufferRequest::write_host, "write_host", "the host is about to write over what is current"},
        {BufferRequest::write_device, "write_device", "the device is about to write over what is current"},
        {BufferRequest::mark_host_dirty, "mark_host_dirty", "the host has written"},
        {BufferRequest::mark_device_dirty, "mark_device_dirty", "the device has written"},
        {BufferRequest::release, "release", "give the memory back"},
    }};
    return table;
}

}  // namespace memsweep::model

namespace memsweep::transfer {
namespace {

using base::Expected;

using State = BufferState;

// What a side holds that nobody has written: no zeroes, which may be moved faster than data.
constexpr std::byte unwritten{0x5A};

struct Cell {
    State next{};
    BufferCopy copy{BufferCopy::none};
    const char* wrong{};  // instead of a move: what to ask for
};

constexpr const char* is_released = "a released buffer takes no more requests";
constexpr const char* no_host = "the host has no memory yet: ask for ensure_host or write_host first";
constexpr const char* no_device = "the device has no memory yet: ask for ensure_device or write_device first";
constexpr const char* host_loses = "what the host has written would be lost: ask for synchronize first";
constexpr const char* device_loses = "what the device has written would be lost: ask for synchronize first";

// A row per state, a column per request, in the order of the enumerations.
constexpr std::array<std::array<Cell, 8>, 7> cells{{
    {{{State::host_only},
      {State::device_only},
      {State::synchronized, BufferCopy::host_to_device},
      {State::host_only},
      {State::device_only},
      {{}, {}, no_host},
      {{}, {}, no_device},
      {State::released}}},
    {{{State::host_only},
      {State::synchronized, BufferCopy::host_to_device},
      {State::synchronized, BufferCopy::host_to_device},
      {State::host_only},
      {State::device_dirty, BufferCopy::host_to_device},
      {State::host_only},
      {{}, {}, no_device},
      {State::released}}},
    {{{State::synchronized, BufferCopy::device_to_host},
      {State::device_only},
      {State::synchronized, BufferCopy::device_to_host},
      {State::host_dirty, BufferCopy::device_to_host},
      {State::device_only},
      {{}, {}, no_host},
      {State::device_only},
      {State::released}}},
    {{{State::synchronized},
      {State::synchronized},
      {State::synchronized},
      {State::host_dirty},
      {State::device_dirty},
      {State::host_dirty},
      {State::device_dirty},
      {State::released}}},
    {{{State::host_dirty},
      {State::synchronized, BufferCopy::host_to_device},
      {State::synchronized, BufferCopy::host_to_device},
      {State::host_dirty},
      {{}, {}, host_loses},
      {State::host_dirty},
      {{}, {}, host_loses},
      {State::released}}},
    {{{State::synchronized, BufferCopy::device_to_host},
      {State::device_dirty},
      {State::synchronized, BufferCopy::device_to_host},
      {State::host_dirty, BufferCopy::device_to_host},
      {State::device_dirty},
      {{}, {}, device_loses},
      {State::device_dirty},
      {State::released}}},
    {{{{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released},
      {{}, {}, is_released}}},
}};

}  // namespace

Expected<BufferMove> next_move(BufferState state, BufferRequest request)
{
    const Cell& cell = cells.at(static_cast<std::size_t>(state)).at(static_cast<std::size_t>(request));
    if (cell.wrong != nullptr) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("{} of a buffer that is {}: {}", model::name_of(request), model::name_of(state), cell.wrong));
    }
    return BufferMove{cell.next, cell.copy};
}

Expected<UnifiedBuffer> UnifiedBuffer::make(device::Runtime& runtime, std::uint32_t device, std::uint64_t bytes,
                                            model::HostKind host_kind)
{
    if (bytes == 0) {
        return base::fail(base::ErrorCode::invalid_input, "a buffer of no bytes");
    }
    UnifiedBuffer buffer{runtime, device, bytes, host_kind};
    auto stream = device::open_stream(runtime, device);
    if (!stream) {
        return base::fail(stream.error());
    }
    buffer.stream_ = *std::move(stream);
    return buffer;
}

UnifiedBuffer::~UnifiedBuffer()
{
    if (stream_.valid()) {
        static_cast<void>(runtime_->wait(stream_.id()));
    }
}

Expected<void> UnifiedBuffer::make_host()
{
    if (host_) {
        return {};
    }
    auto made = EndMemory::make(
        *runtime_, {.end = {.kind = model::TransferEnd::Kind::host, .host = host_kind_, .number = {}, .rank = {}},
                    .bytes = bytes_,
                    .skew_bytes = 0,
                    .driver = device_});
    if (!made) {
        return base::fail(made.error());
    }
    if (made->host() == nullptr) {
        return base::fail(base::ErrorCode::not_supported,
                          fmt::format("a buffer with a side of {} memory: a processor reaches that only while it is "
                                      "mapped",
                                      model::name_of(host_kind_)));
    }
    host_ = std::make_unique<EndMemory>(*std::move(made));
    std::memset(host_->host(), std::to_integer<int>(unwritten), bytes_);
    return {};
}

Expected<void> UnifiedBuffer::make_device()
{
    if (device_memory_.valid()) {
        return {};
    }
    auto made = device::allocate(*runtime_, {.device = device_, .kind = device::MemoryKind::device, .bytes = bytes_});
    if (!made) {
        return base::fail(made.error());
    }
    device_memory_ = *std::move(made);
    return runtime_->fill(stream_.id(), device_memory_.at(), unwritten, bytes_);
}

Expected<void> UnifiedBuffer::start(BufferCopy copy)
{
    const bool to_device = copy == BufferCopy::host_to_device;
    auto asked = to_device ? runtime_->copy(stream_.id(), device_memory_.at(), host_->at(), bytes_)
                           : runtime_->copy(stream_.id(), host_->at(), device_memory_.at(), bytes_);
    if (!asked) {
        return asked;
    }
    flights_.push_back({next_flight_++, copy});
    (to_device ? counts_.to_device : counts_.to_host) += 1;
    (to_device ? counts_.bytes_to_device : counts_.bytes_to_host) += bytes_;
    return {};
}

std::string UnifiedBuffer::describe(const Flight& flight) const
{
    const bool to_device = flight.copy == BufferCopy::host_to_device;
    return fmt::format("transfer {} ({} -> {}, {})", flight.number, to_device ? "host" : fmt::format("gpu{}", device_),
                       to_device ? fmt::format("gpu{}", device_) : "host", base::exact_size(bytes_));
}

Expected<void> UnifiedBuffer::release()
{
    if (in_flight()) {
        return base::fail(
            base::ErrorCode::invalid_input,
            fmt::format("release while {} is in flight: ask for finish first", describe(flights_.front())));
    }
    host_.reset();
    return device_memory_.close();
}

Expected<void> UnifiedBuffer::begin(BufferRequest request)
{
    const auto move = next_move(state_, request);
    if (!move) {
        return base::fail(move.error());
    }
    if (request == BufferRequest::release) {
        return release().map([&] { state_ = move->next; });
    }
    const State next = move->next;
    const bool on_host = next != State::device_only && (next != State::device_dirty || host_);
    const bool on_device = next != State::host_only && (next != State::host_dirty || device_memory_.valid());
    if (auto made = on_host ? make_host() : Expected<void>{}; !made) {
        return made;
    }
    if (auto made = on_device ? make_device() : Expected<void>{}; !made) {
        return made;
    }
    if (move->copy == BufferCopy::none) {
        ++counts_.spared;
    } else if (auto started = start(move->copy); !started) {
        return started;
    }
    state_ = next;
    return {};
}

Expected<void> UnifiedBuffer::finish()
{
    auto done = runtime_->wait(stream_.id());
    flights_.clear();
    return done;
}

Expected<void> UnifiedBuffer::ask(BufferRequest request)
{
    const BufferState before = state_;
    const BufferCounts counted = counts_;
    auto done = begin(request);
    if (done && request != BufferRequest::release) {
        done = finish();
    }
    if (!done) {
        state_ = before;
        counts_ = counted;
    }
    return done;
}

Expected<void> UnifiedBuffer::check_size(std::uint64_t bytes) const
{
    return bytes == bytes_ ? Expected<void>{}
                           : base::fail(base::ErrorCode::invalid_input,
                                        fmt::format("{} to or from a buffer of {}: sizes must be the same",
                                                    base::exact_size(bytes), base::exact_size(bytes_)));
}

Expected<void> UnifiedBuffer::assign(std::span<const std::byte> contents)
{
    return check_size(contents.size()).and_then([&] { return ask(BufferRequest::write_host); }).map([&] {
        std::memcpy(host_->host(), contents.data(), contents.size());
    });
}

Expected<void> UnifiedBuffer::copy_out(std::span<std::byte> into)
{
    return check_size(into.size()).and_then([&] { return ask(BufferRequest::ensure_host); }).map([&] {
        std::memcpy(into.data(), host_->host(), into.size());
    });
}

}  // namespace memsweep::transfer
