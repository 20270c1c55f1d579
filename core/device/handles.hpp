// Owners of what a Runtime opens: each closes it exactly once, on every path.
//
// Ownership  A handle lends its number; the runtime outlives it. A caller that has to hear of a failed close calls
//            close().
#pragma once

#include <utility>

#include "core/device/runtime.hpp"

namespace memsweep::device {

template <typename Id>
class Handle {
  public:
    Handle() = default;
    Handle(Runtime& runtime, Id id) noexcept : runtime_{&runtime}, id_{id} {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle(Handle&& other) noexcept : runtime_{other.runtime_}, id_{std::exchange(other.id_, Id::none)} {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(runtime_, other.runtime_);
        std::swap(id_, other.id_);
        return *this;
    }
    ~Handle() { static_cast<void>(close()); }

    [[nodiscard]] Id id() const noexcept { return id_; }
    [[nodiscard]] bool valid() const noexcept { return id_ != Id::none; }

    base::Expected<void> close()
    {
        const Id id = std::exchange(id_, Id::none);
        return id == Id::none ? base::Expected<void>{} : runtime_->close(id);
    }

  private:
    Runtime* runtime_{};
    Id id_{Id::none};
};

using Stream = Handle<StreamId>;
using Event = Handle<EventId>;
using Latch = Handle<LatchId>;

// A block of memory of one kind.
class Memory {
  public:
    Memory() = default;
    Memory(Runtime& runtime, RawBlock raw, MemoryKind kind, std::uint32_t device, std::uint64_t bytes) noexcept
        : runtime_{&runtime}, raw_{raw}, kind_{kind}, device_{device}, bytes_{bytes}
    {
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Memory(Memory&& other) noexcept { swap(other); }
    Memory& operator=(Memory&& other) noexcept
    {
        swap(other);
        return *this;
    }
    ~Memory() { static_cast<void>(release()); }

    [[nodiscard]] Address at(std::uint64_t offset_bytes = 0) const noexcept
    {
        return {.memory = raw_.id, .offset_bytes = offset_bytes};
    }
    [[nodiscard]] MemoryId id() const noexcept { return raw_.id; }
    [[nodiscard]] std::byte* host() const noexcept { return raw_.host; }
    [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint32_t device() const noexcept { return device_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool valid() const noexcept { return raw_.id != MemoryId::none; }

    base::Expected<void> release()
    {
        const RawBlock old = std::exchange(raw_, RawBlock{});
        return old.id == MemoryId::none ? base::Expected<void>{} : runtime_->release(old.id);
    }

  private:
    void swap(Memory& other) noexcept
    {
        std::swap(runtime_, other.runtime_);
        std::swap(raw_, other.raw_);
        std::swap(kind_, other.kind_);
        std::swap(device_, other.device_);
        std::swap(bytes_, other.bytes_);
    }

    Runtime* runtime_{};
    RawBlock raw_;
    MemoryKind kind_{};
    std::uint32_t device_{};
    std::uint64_t bytes_{};
};

[[nodiscard]] base::Expected<Memory> allocate(Runtime& runtime, const BlockRequest& request);
[[nodiscard]] base::Expected<Memory> adopt(Runtime& runtime, std::uint32_t device, void* ordinary, std::uint64_t bytes);
[[nodiscard]] base::Expected<Stream> open_stream(Runtime& runtime, std::uint32_t device);
[[nodiscard]] base::Expected<Event> record(Runtime& runtime, const Stream& stream);
[[nodiscard]] base::Expected<Latch> hold(Runtime& runtime, const Stream& stream);

}  // namespace memsweep::device
