// Accelerators behind one interface: memory, streams, copies, events. Handles here are bare numbers; handles.hpp owns
// them.
//
// Units    bytes, seconds.
// Errors   device: a call that failed, by its name and what it answered; asynchronous work that failed shows at the
// next
//          wait. not_supported: this runtime or device has no such thing, and why. invalid_input: a device, a handle or
//          a range that does not exist. budget: the device has no memory left.
// Threads  a runtime may be used by several at once, a stream by one at a time.
// Ownership  whatever is opened is closed by its user; memory outlives the work queued on it. Work on a stream is done
//          in order; streams know of each other only through events.
// Cost     copies return once they are queued, except those of pageable memory, which runtimes may carry out at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/facts.hpp"
#include "core/device/pattern.hpp"

namespace memsweep::device {

enum class MemoryId : std::uint64_t { none };
enum class StreamId : std::uint64_t { none };
enum class EventId : std::uint64_t { none };
enum class LatchId : std::uint64_t { none };

// A byte of a block, or of ordinary memory.
struct Address {
    MemoryId memory{};             // none: ordinary memory, at `ordinary`
    std::uint64_t offset_bytes{};  // into the block
    void* ordinary{};              // a source is only read
};
[[nodiscard]] inline Address at(void* ordinary) noexcept
{
    return {.ordinary = ordinary};
}
[[nodiscard]] inline Address at(const void* ordinary) noexcept
{
    return {.ordinary = const_cast<void*>(ordinary)};
}

struct BlockRequest {
    std::uint32_t device{};
    MemoryKind kind{};
    std::uint64_t bytes{};
    StreamId stream{};  // stream_ordered: the stream whose order it keeps
};

struct RawBlock {
    MemoryId id{};
    std::byte* host{};  // where the processor reads and writes it; nullptr: it cannot, or only once it is mapped
};

enum class Access : std::uint8_t { read, write, read_write };

enum class Side : std::uint8_t { host, device };

class Runtime {
  public:
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    virtual ~Runtime() = default;

    [[nodiscard]] virtual std::string_view backend() const noexcept = 0;  // "cuda", "opencl", "none"
    [[nodiscard]] virtual const std::vector<DeviceFacts>& devices() const noexcept = 0;
    [[nodiscard]] virtual std::string absence() const = 0;  // why there is no device; empty when there is one

    // Absent value: yes. Otherwise why this device has no memory of this kind.
    [[nodiscard]] virtual std::optional<std::string> lacks(std::uint32_t device, MemoryKind kind) const = 0;
    [[nodiscard]] virtual PeerLink peer(std::uint32_t from, std::uint32_t to) const = 0;
    [[nodiscard]] virtual base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) = 0;
    [[nodiscard]] virtual std::optional<HostLink> host_link(std::uint32_t device) const = 0;
    [[nodiscard]] virtual Holdings holdings() const = 0;

    [[nodiscard]] virtual base::Expected<RawBlock> allocate(const BlockRequest& request) = 0;
    // Ordinary memory becomes registered memory until it is released; the memory itself stays the caller's.
    [[nodiscard]] virtual base::Expected<RawBlock> adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes) = 0;
    virtual base::Expected<void> release(MemoryId memory) = 0;
    // Of a block of device memory, the address that libraries of the same maker take; nullptr: there is none.
    [[nodiscard]] virtual void* native_address(MemoryId /*memory*/) const { return nullptr; }
    // Makes a block of the kind mapped the processor's, at this address, until unmap gives it back to the device.
    [[nodiscard]] virtual base::Expected<std::byte*> map(MemoryId memory, Access access) = 0;
    [[nodiscard]] virtual base::Expected<void> unmap(MemoryId memory) = 0;

    [[nodiscard]] virtual base::Expected<StreamId> open_stream(std::uint32_t device) = 0;
    virtual base::Expected<void> close(StreamId stream) = 0;  // waits for its work
    [[nodiscard]] virtual base::Expected<void> wait(StreamId stream) = 0;

    [[nodiscard]] virtual base::Expected<void> copy(StreamId stream, Address to, Address from, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual base::Expected<void> fill(StreamId stream, Address to, std::byte value,
                                                    std::uint64_t bytes) = 0;
    // The same by a kernel of the device; blocks that kernels reach only. Multiples of 16 bytes.
    [[nodiscard]] virtual base::Expected<void> copy_by_kernel(StreamId stream, Address to, Address from,
                                                              std::uint64_t bytes) = 0;
    // The pattern of pattern.hpp, written and checked by the device where the block lies. Multiples of 8 bytes.
    [[nodiscard]] virtual base::Expected<void> write_pattern(StreamId stream, Address to, std::uint64_t bytes,
                                                             Pattern pattern) = 0;
    [[nodiscard]] virtual base::Expected<Mismatch> check_pattern(StreamId stream, Address from, std::uint64_t bytes,
                                                                 Pattern pattern) = 0;  // waits

    // One work item follows a chain through [chain, chain + bytes), each of whose words is the offset in bytes of the
    // next: so many loads, one after the other, from the offset that `place` holds, which then holds where they ended.
    [[nodiscard]] virtual base::Expected<void> follow(StreamId stream, Address chain, std::uint64_t bytes,
                                                      std::uint64_t loads, Address place) = 0;
    // Managed memory moves to the host, or to the device of the stream, before either asks for it.
    [[nodiscard]] virtual base::Expected<void> prefetch(StreamId stream, Address managed, std::uint64_t bytes,
                                                        Side to) = 0;

    [[nodiscard]] virtual base::Expected<EventId> record(StreamId stream) = 0;  // happens once all before it is done
    virtual base::Expected<void> close(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<void> wait(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<bool> happened(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<void> after(StreamId stream, EventId event) = 0;  // the stream waits for it
    // By the device's clock; both must have happened on the same device.
    [[nodiscard]] virtual base::Expected<double> seconds_between(EventId first, EventId second) = 0;

    // What is queued on the stream from here on waits until the latch is closed, so that the cost of queueing lies
    // outside what events measure. close: timeout, when the stream went on by itself before.
    [[nodiscard]] virtual base::Expected<LatchId> hold(StreamId stream) = 0;
    virtual base::Expected<void> close(LatchId latch) = 0;
};

}  // namespace memsweep::device
