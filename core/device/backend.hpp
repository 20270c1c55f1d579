// The common part of all backends. It keeps open objects (blocks, streams, events, latches; see runtime.hpp) in maps by
// their ids. It refuses ids and ranges that do not exist. A copy, fill or pattern of 0 bytes does nothing.
//
// Errors   invalid_input: an id or a range that does not exist; timeout: wait() for a stream that a latch holds,
//          because the wait would never end.
// Threads  As Runtime says; the mutex guards the maps.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/device/runtime.hpp"

namespace memsweep::device {

// The base class of a backend. Block must have the members kind, bytes and host; Event must have device; Latch must
// have stream. End is the memory at one end of an operation, such as the source of a copy; it must have kernels_reach
// and is_managed. `Derived` provides, for this class only:
// - prepare(device) -> Expected<Stream>, finish(stream) -> Expected<void>, dismantle(stream)
// - is_mapped(block)
// - end_in(block, offset) and end_at(host pointer) -> End
// - out_of_reach: the error message if kernels cannot access an End
// - place_of(end): the address or offset whose alignment is checked
// - host_to_fill(end): the address at which the processor fills the memory; nullptr if the device fills it
// - queue_...(stream, ends, ...) for each operation
// - found_mismatch() for check_pattern(), seconds_of() for two events
template <typename Derived, typename Block, typename Stream, typename Event, typename Latch, typename End>
class Backend : public Runtime {
  public:
    [[nodiscard]] const std::vector<DeviceFacts>& devices() const noexcept override { return facts_; }
    [[nodiscard]] std::string absence() const override { return {}; }

    [[nodiscard]] Holdings holdings() const override
    {
        const std::lock_guard lock{mutex_};
        Holdings held{
            .blocks = blocks_.size(), .streams = streams_.size(), .events = events_.size(), .latches = latches_.size()};
        for (const auto& [id, block] : blocks_) {
            held.bytes += block.bytes;
        }
        return held;
    }

    [[nodiscard]] base::Expected<StreamId> open_stream(std::uint32_t device) override
    {
        return self().prepare(device).map([&](Stream made) { return keep(streams_, std::move(made)); });
    }

    base::Expected<void> close(StreamId stream) override
    {
        auto found = MEMSWEEP_TRY(find(stream));
        for (const LatchId latch : latches_of(stream)) {
            static_cast<void>(self().close(latch));
        }
        auto done = self().finish(found);
        self().dismantle(found);
        const std::lock_guard lock{mutex_};
        streams_.erase(stream);
        return done;
    }

    [[nodiscard]] base::Expected<void> wait(StreamId stream) override
    {
        if (!latches_of(stream).empty()) {
            return base::fail(base::ErrorCode::timeout, "wait: the stream is held by a latch that is not closed");
        }
        return self().finish(MEMSWEEP_TRY(find(stream)));
    }

    [[nodiscard]] base::Expected<void> copy(StreamId stream, Address to, Address from, std::uint64_t bytes) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto into = MEMSWEEP_TRY(end_of(to, bytes));
        const auto out_of = MEMSWEEP_TRY(end_of(from, bytes));
        return bytes == 0 ? base::Expected<void>{} : self().queue_copy(on, into, out_of, bytes);
    }

    [[nodiscard]] base::Expected<void> fill(StreamId stream, Address to, std::byte value, std::uint64_t bytes) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto into = MEMSWEEP_TRY(end_of(to, bytes));
        if (bytes == 0) {
            return {};
        }
        if (std::byte* const host = Derived::host_to_fill(into)) {  // in stream order, but by the processor
            return wait(stream).map([&] { std::fill_n(host, bytes, value); });
        }
        return self().queue_fill(on, into, value, bytes);
    }

    [[nodiscard]] base::Expected<void> copy_by_kernel(StreamId stream, Address to, Address from,
                                                      std::uint64_t bytes) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto into = MEMSWEEP_TRY(reach(to, bytes, pair_bytes));
        const auto out_of = MEMSWEEP_TRY(reach(from, bytes, pair_bytes));
        return bytes == 0 ? base::Expected<void>{} : self().queue_kernel_copy(on, into, out_of, bytes);
    }

    [[nodiscard]] base::Expected<void> write_pattern(StreamId stream, Address to, std::uint64_t bytes,
                                                     Pattern pattern) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto into = MEMSWEEP_TRY(reach(to, bytes, word_bytes));
        return bytes == 0 ? base::Expected<void>{} : self().queue_pattern(on, into, bytes, pattern);
    }

    [[nodiscard]] base::Expected<Mismatch> check_pattern(StreamId stream, Address from, std::uint64_t bytes,
                                                         Pattern pattern) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto out_of = MEMSWEEP_TRY(reach(from, bytes, word_bytes));
        return bytes == 0 ? Mismatch{} : self().found_mismatch(stream, on, out_of, bytes, pattern);
    }

    [[nodiscard]] base::Expected<void> follow(StreamId stream, Address chain, std::uint64_t bytes, std::uint64_t loads,
                                              Address place) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto links = MEMSWEEP_TRY(reach(chain, bytes, word_bytes));
        const auto ended = MEMSWEEP_TRY(reach(place, word_bytes, word_bytes));
        return self().queue_follow(on, links, loads, ended);
    }

    [[nodiscard]] base::Expected<void> prefetch(StreamId stream, Address managed, std::uint64_t bytes, Side to) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto there = MEMSWEEP_TRY(end_of(managed, bytes));
        if (!there.is_managed) {
            return base::fail(base::ErrorCode::not_supported, "prefetch: only managed memory moves");
        }
        return self().queue_prefetch(on, there, bytes, to);
    }

    [[nodiscard]] base::Expected<void> after(StreamId stream, EventId event) override
    {
        const auto on = MEMSWEEP_TRY(find(stream));
        const auto awaited = MEMSWEEP_TRY(find(event));
        return self().queue_wait(on, awaited);
    }

    [[nodiscard]] base::Expected<double> seconds_between(EventId first, EventId second) override
    {
        const auto begin = MEMSWEEP_TRY(find(first));
        const auto end = MEMSWEEP_TRY(find(second));
        if (begin.device != end.device) {
            return base::fail(base::ErrorCode::not_supported, "events of two devices were told by two clocks");
        }
        return self().seconds_of(begin, end);
    }

  protected:
    static constexpr std::uint64_t word_bytes = 8;   // the unit of patterns and chains
    static constexpr std::uint64_t pair_bytes = 16;  // the unit that a kernel copies in one step

    // Closes blocks before streams, because stream-ordered memory is freed on its stream.
    void close_all()
    {
        while (!latches_.empty()) {
            static_cast<void>(self().close(latches_.begin()->first));
        }
        for (const auto& [id, stream] : streams_) {
            static_cast<void>(self().finish(stream));
        }
        while (!blocks_.empty()) {
            static_cast<void>(self().close(blocks_.begin()->first));
        }
        while (!streams_.empty()) {
            static_cast<void>(close(streams_.begin()->first));
        }
        while (!events_.empty()) {
            static_cast<void>(self().close(events_.begin()->first));
        }
    }

    template <typename Id, typename Value>
    Id keep(std::map<Id, Value>& all, Value value)
    {
        const std::lock_guard lock{mutex_};
        const Id id{++last_id_};
        all.emplace(id, std::move(value));
        return id;
    }

    // Stores a new block, and returns its id and its address for the processor. A block of kind `mapped` gets this
    // address only from map().
    [[nodiscard]] RawBlock kept(const Block& block)
    {
        return {.id = keep(blocks_, block), .host = block.kind == MemoryKind::mapped ? nullptr : block.host};
    }

    [[nodiscard]] base::Expected<Stream> find(StreamId stream) const
    {
        return find_in(streams_, stream, "there is no such stream");
    }
    [[nodiscard]] base::Expected<Event> find(EventId event) const
    {
        return find_in(events_, event, "there is no such event");
    }

    // Returns the block that contains [address, address + bytes). Errors: invalid_input, if there is no such block, if
    // the range is not inside it, or if it is now mapped for the processor.
    [[nodiscard]] base::Expected<Block> find(const Address& address, std::uint64_t bytes) const
    {
        auto block = find_in(blocks_, address.memory, "there is no such block");
        if (block && (address.offset_bytes > block->bytes || bytes > block->bytes - address.offset_bytes)) {
            return base::fail(base::ErrorCode::invalid_input, fmt::format("{} bytes at {} reach beyond a block of {}",
                                                                          bytes, address.offset_bytes, block->bytes));
        }
        if (block && Derived::is_mapped(*block)) {
            return base::fail(base::ErrorCode::invalid_input, "the block is mapped: it is the processor's until unmap");
        }
        return block;
    }

    // Removes an object from its map and returns the object, so that no other thread can close or use it.
    template <typename Id, typename Value>
    [[nodiscard]] base::Expected<Value> take(std::map<Id, Value>& all, Id id, const char* missing)
    {
        const std::lock_guard lock{mutex_};
        auto node = all.extract(id);
        return node.empty() ? base::fail(base::ErrorCode::invalid_input, missing)
                            : base::Expected<Value>{std::move(node.mapped())};
    }

    [[nodiscard]] base::Expected<void> check(const BlockRequest& request) const
    {
        if (const auto why = lacks(request.device, request.kind)) {
            return base::fail(base::ErrorCode::not_supported, *why);
        }
        if (request.bytes == 0 || request.kind == MemoryKind::registered) {
            return base::fail(base::ErrorCode::invalid_input, "no block is empty, and registered memory is adopted");
        }
        return {};
    }

    std::vector<DeviceFacts> facts_;
    mutable std::mutex mutex_;
    std::map<MemoryId, Block> blocks_;
    std::map<StreamId, Stream> streams_;
    std::map<EventId, Event> events_;
    std::map<LatchId, Latch> latches_;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
    [[nodiscard]] const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

    [[nodiscard]] base::Expected<End> end_of(Address address, std::uint64_t bytes) const
    {
        if (address.memory == MemoryId::none) {
            return address.ordinary == nullptr
                       ? base::fail(base::ErrorCode::invalid_input, "there is no memory at this address")
                       : base::Expected<End>{self().end_at(static_cast<std::byte*>(address.ordinary))};
        }
        return find(address, bytes).map([&](const Block& block) { return self().end_in(block, address.offset_bytes); });
    }

    // Does the same as end_of(), and also checks that kernels can access the range.
    [[nodiscard]] base::Expected<End> reach(Address address, std::uint64_t bytes, std::uint64_t unit) const
    {
        auto end = end_of(address, bytes);
        if (end && !end->kernels_reach) {
            return base::fail(base::ErrorCode::not_supported, Derived::out_of_reach);
        }
        // Checks place_of() and not address.offset_bytes, because registered memory may begin at any address.
        if (end && (bytes % unit != 0 || Derived::place_of(*end) % unit != 0)) {
            return base::fail(
                base::ErrorCode::invalid_input,
                fmt::format("kernels take whole units of {0} bytes, at addresses that are multiples of {0}", unit));
        }
        return end;
    }

    template <typename Id, typename Value>
    [[nodiscard]] base::Expected<Value> find_in(const std::map<Id, Value>& all, Id id, const char* missing) const
    {
        const std::lock_guard lock{mutex_};
        const auto found = all.find(id);
        return found == all.end() ? base::fail(base::ErrorCode::invalid_input, missing)
                                  : base::Expected<Value>{found->second};
    }

    [[nodiscard]] std::vector<LatchId> latches_of(StreamId stream) const
    {
        const std::lock_guard lock{mutex_};
        std::vector<LatchId> found;
        for (const auto& [id, latch] : latches_) {
            if (latch.stream == stream) {
                found.push_back(id);
            }
        }
        return found;
    }

    std::uint64_t last_id_{};
};

}  // namespace memsweep::device
