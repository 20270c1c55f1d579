#include "core/transfer/unified_buffer.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::transfer {

using base::Expected;

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
        *runtime_, {.place = {.kind = model::Place::Kind::host, .host = host_kind_, .number = {}, .rank = {}},
                    .bytes = bytes_,
                    .skew_bytes = 0,
                    .driver = device_});
    if (!made) {
        return base::fail(made.error());
    }
    host_ = std::make_unique<EndMemory>(*std::move(made));
    std::memset(host_->host(), 0, bytes_);
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
    return runtime_->fill(stream_.id(), device_memory_.at(), std::byte{0}, bytes_);
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
    return device_memory_.release();
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
    using State = BufferState;
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
