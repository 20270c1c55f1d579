// What the invented devices do, and when.
#include <algorithm>
#include <cstring>

#include "tests/support/fake_runtime.hpp"

namespace memsweep::tests {
namespace {

using base::ErrorCode;
using device::MemoryKind;
using Lock = std::lock_guard<std::recursive_mutex>;

constexpr std::byte damage{0x10};
constexpr double cached_share = 0.1;  // of what a load of memory takes

}  // namespace

bool FakeCache::use(device::MemoryId memory, std::uint64_t offset_bytes)
{
    if (lines_ == 0) {
        return false;
    }
    const Line line{memory, offset_bytes / line_bytes};
    const auto found = places_.find(line);
    const bool was_there = found != places_.end();
    if (was_there) {
        held_.erase(found->second);
    } else if (held_.size() == lines_) {
        places_.erase(held_.back());
        held_.pop_back();
    }
    held_.push_front(line);
    places_[line] = held_.begin();
    return was_there;
}

void FakeCache::use(device::Address first, std::uint64_t bytes)
{
    for (std::uint64_t at = 0; at < bytes && lines_ != 0; at += line_bytes) {
        static_cast<void>(use(first.memory, first.offset_bytes + at));
    }
}

void FakeRuntime::cache(device::Address first, std::uint64_t bytes)
{
    if (const auto block = find(first.memory);
        block && ((*block)->kind == MemoryKind::device || (*block)->kind == MemoryKind::stream_ordered)) {
        caches_[(*block)->device].use(first, bytes);
    }
}

base::Expected<device::StreamId> FakeRuntime::open_stream(std::uint32_t number)
{
    const Lock lock{mutex_};
    if (number >= facts_.size() || is_lost_) {
        return base::fail(is_lost_ ? ErrorCode::device : ErrorCode::invalid_input,
                          is_lost_ ? "the context is broken" : "there is no such device");
    }
    const device::StreamId id{++last_id_};
    streams_[id].device = number;
    return id;
}

base::Expected<void> FakeRuntime::close(device::StreamId stream)
{
    const Lock lock{mutex_};
    const auto done = wait(stream);
    streams_.erase(stream);
    return done;
}

base::Expected<void> FakeRuntime::wait(device::StreamId stream)
{
    const Lock lock{mutex_};
    const auto found = find(stream);
    return found ? drain(**found, device::EventId::none) : base::fail(found.error());
}

base::Expected<void> FakeRuntime::copy(device::StreamId stream, device::Address to, device::Address from,
                                       std::uint64_t bytes)
{
    return queue_copy(stream, to, from, bytes, false);
}

base::Expected<void> FakeRuntime::copy_by_kernel(device::StreamId stream, device::Address to, device::Address from,
                                                 std::uint64_t bytes)
{
    if (bytes % 16 != 0) {
        return base::fail(ErrorCode::invalid_input, "copy_by_kernel: not a multiple of 16 bytes");
    }
    return queue_copy(stream, to, from, bytes, true);
}

base::Expected<void> FakeRuntime::queue_copy(device::StreamId stream, device::Address to, device::Address from,
                                             std::uint64_t bytes, bool by_kernel)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto target = span(to, bytes);
    const auto source = span(from, bytes);
    if (!on || !target || !source) {
        return base::fail(!on ? on.error() : !target ? target.error() : source.error());
    }
    const std::uint64_t number = ++copies_asked_;
    if (failing_.has(number)) {
        return base::fail(ErrorCode::device, "copy: injected");
    }
    const bool fails = failing_late_.has(number);
    const bool corrupts = corrupting_.has(number);
    const bool breaks = breaking_.has(number);
    const double extra_s = delaying_.has(number) ? delay_s_ : 0;
    copies_.push_back({source->kind, target->kind, source->device, target->device, bytes, by_kernel});
    // Read late, pageable memory too: whoever writes it before the copy is waited for is found out.
    push(**on, {.run = [=, this]() -> base::Expected<void> {
                    if (breaks) {
                        is_lost_ = true;
                        return base::fail(ErrorCode::device, "copy: misaligned address");
                    }
                    if (fails) {
                        return base::fail(ErrorCode::device, "copy: injected, seen late");
                    }
                    // A block may be gone by now: that is the user's mistake, and seen.
                    const auto into = span(to, bytes);
                    const auto out_of = span(from, bytes);
                    if (!into || !out_of) {
                        return base::fail(!into ? into.error() : out_of.error());
                    }
                    std::memmove(into->data, out_of->data, bytes);
                    cache(from, bytes);
                    cache(to, bytes);
                    if (corrupts && bytes != 0) {
                        into->data[bytes / 2] ^= damage;
                    }
                    return {};
                },
                .seconds = machine_.latency_s + static_cast<double>(bytes) / machine_.bytes_per_s + extra_s});
    return {};
}

base::Expected<void> FakeRuntime::fill(device::StreamId stream, device::Address to, std::byte value,
                                       std::uint64_t bytes)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto target = span(to, bytes);
    if (!on || !target) {
        return base::fail(!on ? on.error() : target.error());
    }
    push(**on, {.run = [=, this] {
        return span(to, bytes).map([&](Span into) {
            std::memset(into.data, static_cast<int>(value), bytes);
            cache(to, bytes);
        });
    }});
    return {};
}

base::Expected<void> FakeRuntime::write_pattern(device::StreamId stream, device::Address to, std::uint64_t bytes,
                                                device::Pattern pattern)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto target = span(to, bytes);
    if (!on || !target) {
        return base::fail(!on ? on.error() : target.error());
    }
    push(**on, {.run = [=, this] {
        return span(to, bytes).map([&](Span into) {
            device::write_pattern({into.data, bytes}, pattern);
            cache(to, bytes);
        });
    }});
    return {};
}

base::Expected<device::Mismatch> FakeRuntime::check_pattern(device::StreamId stream, device::Address from,
                                                            std::uint64_t bytes, device::Pattern pattern)
{
    const Lock lock{mutex_};
    return wait(stream).and_then([&] { return span(from, bytes); }).map([&](Span source) {
        return device::check_pattern({source.data, bytes}, pattern);
    });
}

base::Expected<void> FakeRuntime::follow(device::StreamId stream, device::Address chain, std::uint64_t bytes,
                                         std::uint64_t loads, device::Address place)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto links = span(chain, bytes);
    const auto ended = span(place, sizeof(std::uint64_t));
    if (!on || !links || !ended) {
        return base::fail(!on ? on.error() : !links ? links.error() : ended.error());
    }
    const bool on_a_device = links->kind == MemoryKind::device || links->kind == MemoryKind::stream_ordered;
    if (on_a_device && !peer((*on)->device, links->device).direct) {
        return base::fail(ErrorCode::not_supported, peer((*on)->device, links->device).reason);
    }
    push(**on, {.run = [=, this]() -> base::Expected<void> {
        const auto from = span(chain, bytes);
        const auto into = span(place, sizeof(std::uint64_t));
        if (!from || !into) {
            return base::fail(!from ? from.error() : into.error());
        }
        std::uint64_t at = 0;
        std::memcpy(&at, into->data, sizeof at);
        for (std::uint64_t load = 0; load < loads; ++load) {
            if (at > bytes - sizeof at) {
                return base::fail(ErrorCode::device, "follow: beyond the chain");
            }
            const bool cached = on_a_device && caches_[links->device].use(chain.memory, chain.offset_bytes + at);
            loading_s_ += machine_.latency_s * (cached ? cached_share : 1);
            std::memcpy(&at, from->data + at, sizeof at);
        }
        at += corrupting_chains_ ? 1 : 0;
        std::memcpy(into->data, &at, sizeof at);
        return {};
    }});
    return {};
}

base::Expected<void> FakeRuntime::prefetch(device::StreamId stream, device::Address managed, std::uint64_t bytes,
                                           device::Side /*to*/)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto there = span(managed, bytes);
    if (!on || !there) {
        return base::fail(!on ? on.error() : there.error());
    }
    if (there->kind != MemoryKind::managed) {
        return base::fail(ErrorCode::not_supported, "prefetch: only managed memory moves");
    }
    push(**on, {.seconds = machine_.latency_s + static_cast<double>(bytes) / machine_.bytes_per_s});
    return {};
}

base::Expected<device::EventId> FakeRuntime::record(device::StreamId stream)
{
    const Lock lock{mutex_};
    return find(stream).map([&](Stream* on) {
        const device::EventId id{++last_id_};
        ++events_recorded_;
        events_[id].stream = stream;
        push(*on, {.announces = id});
        return id;
    });
}

base::Expected<void> FakeRuntime::close(device::EventId event)
{
    const Lock lock{mutex_};
    return find(event).map([&](Event*) { events_.erase(event); });
}

base::Expected<void> FakeRuntime::wait(device::EventId event)
{
    const Lock lock{mutex_};
    return find(event).and_then([&](Event* asked) -> base::Expected<void> {
        if (asked->at_s) {
            now_s_ = std::max(now_s_, *asked->at_s);
            return {};
        }
        return find(asked->stream).and_then([&](Stream* on) { return drain(*on, event); });
    });
}

base::Expected<bool> FakeRuntime::happened(device::EventId event)
{
    const Lock lock{mutex_};
    return find(event).and_then([&](Event* asked) -> base::Expected<bool> {
        if (!asked->at_s) {
            const auto on = find(asked->stream);
            if (!on) {
                return base::fail(on.error());
            }
            static_cast<void>(step(**on));
            if ((*on)->failure) {
                return base::fail(*std::exchange((*on)->failure, std::nullopt));
            }
        }
        return asked->at_s.has_value();
    });
}

base::Expected<void> FakeRuntime::after(device::StreamId stream, device::EventId event)
{
    const Lock lock{mutex_};
    const auto on = find(stream);
    const auto awaited = find(event);
    if (!on || !awaited) {
        return base::fail(!on ? on.error() : awaited.error());
    }
    push(**on, {.waits_for = event});
    return {};
}

base::Expected<double> FakeRuntime::seconds_between(device::EventId first, device::EventId second)
{
    const Lock lock{mutex_};
    const auto begin = find(first);
    const auto end = find(second);
    if (!begin || !end || !(*begin)->at_s || !(*end)->at_s) {
        return base::fail(ErrorCode::invalid_input, "seconds_between: both events must have happened");
    }
    return *(*end)->at_s - *(*begin)->at_s;
}

base::Expected<device::LatchId> FakeRuntime::hold(device::StreamId stream)
{
    const Lock lock{mutex_};
    return find(stream).map([&](Stream* on) {
        const device::LatchId id{++last_id_};
        latches_[id] = stream;
        push(*on, {.held_by = id});
        return id;
    });
}

base::Expected<void> FakeRuntime::close(device::LatchId latch)
{
    const Lock lock{mutex_};
    if (gave_up_.erase(latch) == 1) {
        return base::fail(ErrorCode::timeout, "the latch held for ten seconds and let the stream go on by itself");
    }
    return latches_.erase(latch) == 1
               ? base::Expected<void>{}
               : base::fail(ErrorCode::invalid_input, "there is no such latch, or it was closed before");
}

void FakeRuntime::push(Stream& stream, Command command)
{
    if (stream.queue.size() >= machine_.queue_limit && step(stream) == Step::stuck) {
        if (const auto held = latches_.extract(stream.queue.front().held_by); !held.empty()) {
            gave_up_.insert(held.key());
            static_cast<void>(step(stream));
        }
    }
    stream.queue.push_back(std::move(command));
    longest_queue_ = std::max(longest_queue_, stream.queue.size());
}

FakeRuntime::Step FakeRuntime::step(Stream& stream)
{
    if (stream.queue.empty()) {
        return Step::idle;
    }
    const Command& next = stream.queue.front();
    if (latches_.contains(next.held_by)) {
        return Step::stuck;
    }
    const auto awaited = events_.find(next.waits_for);  // one that was closed holds nobody up
    if (awaited != events_.end()) {
        while (!awaited->second.at_s) {
            const auto other = streams_.find(awaited->second.stream);
            if (other == streams_.end() || step(other->second) != Step::done) {
                return Step::stuck;
            }
        }
        stream.at_s = std::max(stream.at_s, *awaited->second.at_s);
    }
    const Command command = next;
    stream.queue.pop_front();
    loading_s_ = 0;
    if (command.run) {
        if (const auto done = command.run(); !done && !stream.failure) {
            stream.failure = done.error();
        }
    }
    stream.at_s = std::max(stream.at_s, now_s_) + command.seconds + loading_s_;
    if (const auto told = events_.find(command.announces); told != events_.end()) {
        told->second.at_s = stream.at_s;
    }
    return Step::done;
}

base::Expected<void> FakeRuntime::drain(Stream& stream, device::EventId until)
{
    const auto reached = [&] {
        const auto event = events_.find(until);
        return event != events_.end() && event->second.at_s.has_value();
    };
    Step last = Step::done;
    while (last == Step::done && !reached()) {
        last = step(stream);
    }
    if (last == Step::stuck) {
        return base::fail(ErrorCode::timeout, "wait: the stream is held by a latch that is not closed");
    }
    now_s_ = std::max(now_s_, stream.at_s);
    if (stream.failure) {
        return base::fail(*std::exchange(stream.failure, std::nullopt));
    }
    return {};
}

}  // namespace memsweep::tests
