// Accelerators behind one interface: what is known of them, memory, streams, copies, events. Runtime deals in bare
// numbers; the handle types below own them.
//
// Units    bytes, seconds, hertz, bytes per second; an absent optional is unknown, never 0.
//
// Sources  Facts come from clGetDeviceInfo, or from cudaGetDeviceProperties and cudaDeviceGetAttribute, and NVML for
//          links and for what tells one card from another.
//
// Errors   device: a call that failed, by its name and what it answered; asynchronous work that failed shows at the
//          next wait. not_supported: this runtime or device has no such thing, and why. invalid_input: a device, a
//          handle or a range that does not exist. budget: the device has no memory left.
//
// Threads  A runtime may be used by several at once, a stream by one at a time.
//
// Ownership  Whatever is opened is closed by its user; memory outlives the work queued on it. Work on a stream is done
//            in order; streams know of each other only through events.
//
// Cost     Copies return once they are queued, except those of pageable memory, which runtimes may carry out at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/pattern.hpp"

namespace memsweep::device {

// Where bytes of a transfer lie.
enum class MemoryKind : std::uint8_t {
    pageable,        // ordinary memory of the process
    pinned,          // host memory that the runtime allocated page-locked
    registered,      // ordinary memory that the runtime locked afterwards
    write_combined,  // pinned, uncached by the processor: fast to write, slow to read
    mapped,          // pinned, and loaded from or stored to by kernels where it lies (zero copy)
    device,          // the accelerator's own
    managed,         // one address for both sides, moved on demand
    stream_ordered,  // the accelerator's own, from a pool, in the order of a stream
};
[[nodiscard]] const std::vector<MemoryKind>& memory_kinds();
[[nodiscard]] std::string_view name_of(MemoryKind kind) noexcept;

enum class DeviceClass : std::uint8_t { gpu, cpu, accelerator };
[[nodiscard]] std::string_view name_of(DeviceClass device_class) noexcept;

struct DeviceFacts {
    std::string name;
    std::string driver;               // "pocl 3.1 (OpenCL 3.0)", "CUDA 13.0"
    std::string driver_version;       // of the driver itself, "580.105.08"; empty: the runtime does not tell
    std::uint32_t runtime_version{};  // of CUDA's library: 13000; 0: there is none
    std::string architecture;         // "sm_90"; empty: the runtime has no word for it
    std::string bus_address;          // "0000:1b:00.0"; empty: not on a PCI bus, or not told
    DeviceClass device_class{};
    std::uint64_t memory_bytes{};
    std::uint64_t largest_block_bytes{};  // of one allocation
    std::uint32_t compute_units{};
    bool reaches_ordinary{};    // its kernels use ordinary memory of the process where it lies
    bool shares_host_memory{};  // its memory is the host's: pinned and pageable transfers do not differ
    std::optional<std::uint32_t> copy_engines;
    std::optional<std::uint32_t> numa_node;    // that it is attached to
    std::optional<double> memory_bytes_per_s;  // what its memory could do: clock times width of the bus
    std::optional<std::uint32_t> nvlinks;      // that are up
    std::optional<std::uint64_t> cache_bytes;  // of the last cache before its memory
    std::string environment;                   // what the process's variables ask of the driver; empty: nothing
    std::string uuid;                          // "GPU-8c3a…"; empty: not told
    std::string part_of;                       // the uuid of the card whose instance (MIG) it is; empty: it is a card
    std::string serial;                        // of the board; empty: not told
    std::optional<bool> has_ecc;               // its memory is checked
    std::optional<bool> is_partitioned;        // multi-instance GPU (MIG) is on
    std::optional<double> power_limit_w;
    std::optional<std::uint64_t> link_replays;  // of packets on its link to the host, since the driver was loaded
};

// The link to the host as it is now: idle devices let it fall to its slowest.
struct HostLink {
    std::uint32_t generation{};  // of PCI Express, 1 to 6
    std::uint32_t lanes{};
    std::uint32_t max_generation{};
    std::uint32_t max_lanes{};
};

// How fast a device runs now, and what keeps it from running faster.
struct Clocks {
    std::uint64_t processors_hz{};
    std::uint64_t memory_hz{};
    std::uint64_t max_processors_hz{};
    std::uint64_t max_memory_hz{};
    std::string held_back_by;  // "power_cap, hot_hardware"; empty: nothing
    bool is_throttled{};       // by heat or a failing supply, which pass: not by a limit that always holds
};

// The most that one direction of such a link carries, after encoding and the packet headers of 256-byte payloads.
// Sources  PCI Express Base Specification: 2.5 to 64 GT/s a lane; 8b/10b up to generation 2, 128b/130b up to 5, FLITs
//          (242 of 256 bytes) in 6; 24 bytes of framing, sequence, header and check a packet.
[[nodiscard]] std::optional<double> bytes_per_second(std::uint32_t generation, std::uint32_t lanes) noexcept;

// The link from one device to another.
struct PeerLink {
    bool copies{};                         // a single copy takes both ends, however the runtime carries it out
    bool possible{};                       // one device can read and write the other's memory, once access is on
    bool direct{};                         // access is on
    std::string reason;                    // why not direct; empty when it is
    std::optional<std::uint32_t> nvlinks;  // between them, straight or through a switch
    bool through_switch{};
};

// Counts of the things that a runtime holds for its user at this moment.
struct Holdings {
    std::uint64_t blocks{};
    std::uint64_t bytes{};
    std::uint64_t streams{};
    std::uint64_t events{};
    std::uint64_t latches{};
    friend bool operator==(const Holdings&, const Holdings&) = default;
};

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

enum class Access : std::uint8_t { read, write };

enum class Side : std::uint8_t { host, device };

// Hints for a driver about managed memory.
enum class Advice : std::uint8_t {
    stay_on_device,  // it is moved there, and stays while there is room
    stay_on_host,    // it stays there, and the device's kernels use it over the link
};

class Runtime {
  public:
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    virtual ~Runtime() = default;

    [[nodiscard]] virtual std::string_view backend() const noexcept = 0;  // "cuda", "opencl", "none"
    [[nodiscard]] virtual const std::vector<DeviceFacts>& devices() const noexcept = 0;
    [[nodiscard]] virtual std::string absence() const = 0;  // why there is no device; empty when there is one

    // Why this device has no memory of this kind; absent: it has.
    [[nodiscard]] virtual std::optional<std::string> lacks(std::uint32_t device, MemoryKind kind) const = 0;
    [[nodiscard]] virtual PeerLink peer(std::uint32_t from, std::uint32_t to) const = 0;
    [[nodiscard]] virtual base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) = 0;
    [[nodiscard]] virtual std::optional<HostLink> host_link(std::uint32_t device) const = 0;
    [[nodiscard]] virtual std::optional<Clocks> clocks(std::uint32_t /*device*/) const { return std::nullopt; }
    [[nodiscard]] virtual Holdings holdings() const = 0;
    // Why every call fails from here on in this process, as after a kernel that broke the driver's context. Asks the
    // driver; absent: work can go on.
    [[nodiscard]] virtual std::optional<std::string> lost() const { return std::nullopt; }

    [[nodiscard]] virtual base::Expected<RawBlock> allocate(const BlockRequest& request) = 0;
    // Registers ordinary memory until the block is closed; the memory itself stays the caller's.
    [[nodiscard]] virtual base::Expected<RawBlock> adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes) = 0;
    virtual base::Expected<void> close(MemoryId memory) = 0;
    // The address of a block of device memory for other libraries of the same maker, in one address space with the
    // host's memory; nullptr: there is none.
    [[nodiscard]] virtual void* native_address(MemoryId /*memory*/) const { return nullptr; }
    // Gives a block of the kind mapped to the processor, at the returned address, until unmap() gives it back to the
    // device.
    [[nodiscard]] virtual base::Expected<std::byte*> map(MemoryId memory, Access access) = 0;
    [[nodiscard]] virtual base::Expected<void> unmap(MemoryId memory) = 0;

    [[nodiscard]] virtual base::Expected<StreamId> open_stream(std::uint32_t device) = 0;
    virtual base::Expected<void> close(StreamId stream) = 0;  // waits for its work
    // Whether a device prefers the kernels of some streams. open_urgent_stream() opens one whose kernels it prefers to
    // all others.
    [[nodiscard]] virtual bool has_priorities(std::uint32_t /*device*/) const { return false; }
    [[nodiscard]] virtual base::Expected<StreamId> open_urgent_stream(std::uint32_t device);
    [[nodiscard]] virtual base::Expected<void> wait(StreamId stream) = 0;

    [[nodiscard]] virtual base::Expected<void> copy(StreamId stream, Address to, Address from, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual base::Expected<void> fill(StreamId stream, Address to, std::byte value,
                                                    std::uint64_t bytes) = 0;
    // The same by a kernel of the device, and so only between blocks that kernels reach. Multiples of 16 bytes.
    [[nodiscard]] virtual base::Expected<void> copy_by_kernel(StreamId stream, Address to, Address from,
                                                              std::uint64_t bytes) = 0;
    // Says that so many streams of its device copy by kernels at a time, this one among them. Its kernels then leave
    // room for the others.
    [[nodiscard]] virtual base::Expected<void> share_device(StreamId /*stream*/, std::uint32_t /*streams*/)
    {
        return {};
    }
    // The pattern of pattern.hpp, written and checked by the device where the block lies. Multiples of 8 bytes.
    [[nodiscard]] virtual base::Expected<void> write_pattern(StreamId stream, Address to, std::uint64_t bytes,
                                                             Pattern pattern) = 0;
    [[nodiscard]] virtual base::Expected<Mismatch> check_pattern(StreamId stream, Address from, std::uint64_t bytes,
                                                                 Pattern pattern) = 0;  // waits

    // One work item follows a chain through [chain, chain + bytes). Each word of the chain is the offset in bytes of
    // the next. The item makes so many loads, one after the other, from the offset that `place` holds; `place` then
    // holds the offset at which they ended.
    [[nodiscard]] virtual base::Expected<void> follow(StreamId stream, Address chain, std::uint64_t bytes,
                                                      std::uint64_t loads, Address place) = 0;
    // Moves managed memory to the host (the node nearest to the device, if that can be named), or to the device.
    [[nodiscard]] virtual base::Expected<void> prefetch(StreamId stream, Address managed, std::uint64_t bytes,
                                                        Side to) = 0;

    // Tells the driver of a whole block of managed memory how this device will use it.
    [[nodiscard]] virtual base::Expected<void> advise(std::uint32_t device, MemoryId managed, Advice advice);
    // Bytes of the device's memory that no process holds, neither this one nor another.
    [[nodiscard]] virtual base::Expected<std::uint64_t> free_bytes(std::uint32_t device) const;

    [[nodiscard]] virtual base::Expected<EventId> record(StreamId stream) = 0;  // happens once all before it is done
    virtual base::Expected<void> close(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<void> wait(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<bool> happened(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<void> after(StreamId stream, EventId event) = 0;  // the stream waits for it
    // Seconds by the device's clock; both events must have happened on the same device.
    [[nodiscard]] virtual base::Expected<double> seconds_between(EventId first, EventId second) = 0;

    // Work that is queued on the stream from here on waits until the latch is closed, so that events do not measure the
    // cost of queueing. close() answers timeout if the stream had gone on by itself.
    [[nodiscard]] virtual base::Expected<LatchId> hold(StreamId stream) = 0;
    virtual base::Expected<void> close(LatchId latch) = 0;
};

// Owners of what a Runtime opens: each closes it exactly once, on every path.
//
// Ownership  A handle lends its number; the runtime outlives it. A caller that has to hear of a failed close calls
//            close().

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
    Memory(Runtime& runtime, RawBlock raw, MemoryKind kind, std::uint64_t bytes) noexcept
        : block_{runtime, raw.id}, host_{raw.host}, kind_{kind}, bytes_{bytes}
    {
    }

    [[nodiscard]] Address at(std::uint64_t offset_bytes = 0) const noexcept
    {
        return {.memory = id(), .offset_bytes = offset_bytes};
    }
    [[nodiscard]] MemoryId id() const noexcept { return block_.id(); }
    [[nodiscard]] std::byte* host() const noexcept { return host_; }
    [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool valid() const noexcept { return block_.valid(); }

    base::Expected<void> close() { return block_.close(); }

  private:
    Handle<MemoryId> block_;
    std::byte* host_{};
    MemoryKind kind_{};
    std::uint64_t bytes_{};
};

[[nodiscard]] base::Expected<Memory> allocate(Runtime& runtime, const BlockRequest& request);
[[nodiscard]] base::Expected<Stream> open_urgent_stream(Runtime& runtime, std::uint32_t device);
[[nodiscard]] base::Expected<Memory> adopt(Runtime& runtime, std::uint32_t device, void* ordinary, std::uint64_t bytes);
[[nodiscard]] base::Expected<Stream> open_stream(Runtime& runtime, std::uint32_t device);
[[nodiscard]] base::Expected<Event> record(Runtime& runtime, const Stream& stream);
[[nodiscard]] base::Expected<Latch> hold(Runtime& runtime, const Stream& stream);

// Copies a device's memory to the host over this stream, 4 MiB at a time, and compares it with the pattern there. No
// kernel of any device has a part in it. Multiples of 8 bytes; waits.
[[nodiscard]] base::Expected<Mismatch> check_by_host(Runtime& runtime, StreamId stream, Address from,
                                                     std::uint64_t bytes, Pattern pattern);

}  // namespace memsweep::device
