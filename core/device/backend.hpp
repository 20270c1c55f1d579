// What all backends do alike: they keep what they have opened under numbers, and refuse numbers and ranges that name
// nothing.
//
// Errors   invalid_input: a number or a range that does not exist; timeout: a stream that is held would be waited for
//          for ever.
// Threads  As Runtime says; the mutex guards the maps.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/device/runtime.hpp"

namespace memsweep::device {

// `Derived` has prepare(device) -> Expected<Stream>, finish(stream) -> Expected<void>, dismantle(stream) and
// is_mapped(const Block&) for it. A block has the members kind, bytes and host, a latch its stream.
template <typename Derived, typename Block, typename Stream, typename Event, typename Latch>
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
        auto found = find(stream);
        if (!found) {
            return base::fail(found.error());
        }
        for (const LatchId latch : latches_of(stream)) {
            static_cast<void>(self().close(latch));
        }
        auto done = self().finish(*found);
        self().dismantle(*found);
        const std::lock_guard lock{mutex_};
        streams_.erase(stream);
        return done;
    }

    [[nodiscard]] base::Expected<void> wait(StreamId stream) override
    {
        if (!latches_of(stream).empty()) {
            return base::fail(base::ErrorCode::timeout, "wait: the stream is held by a latch that is not closed");
        }
        return find(stream).and_then([&](Stream found) { return self().finish(found); });
    }

  protected:
    void close_all()
    {
        while (!latches_.empty()) {
            static_cast<void>(self().close(latches_.begin()->first));
        }
        while (!streams_.empty()) {
            static_cast<void>(close(streams_.begin()->first));
        }
        while (!events_.empty()) {
            static_cast<void>(self().close(events_.begin()->first));
        }
        while (!blocks_.empty()) {
            static_cast<void>(self().release(blocks_.begin()->first));
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

    // How the user knows a new block: one that is mapped on demand is not the processor's yet.
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

    // The block of an address; the range lies in it, and the processor does not have it.
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
