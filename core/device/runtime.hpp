// One interface to all accelerators: it gives facts about them and has memory, streams, copies and events. Runtime
// identifies objects by ids. The handle types below own objects and close them.
//
// Units    bytes, seconds, hertz, bytes per second. An absent optional means unknown, not 0.
//
// Sources  Facts come from clGetDeviceInfo, or from cudaGetDeviceProperties and cudaDeviceGetAttribute. Links and the
//          identity of a card come from NVML.
//
// Errors   device: a call failed; the message names the call and its result. A failure of asynchronous work is reported
//          by the next wait. not_supported: this runtime or device lacks the feature; the message says why.
//          invalid_input: a device, an id or a range that does not exist. budget: the device has no memory left.
//          timeout: a wait took too long.
//
// Threads  Several threads may use a runtime at the same time, but a stream may be used by only one of them at a time.
//
// Ownership  The user closes every object that was opened. Memory must outlive the work queued on it.
//
// Order    Work on one stream runs in the order in which it was queued. Work on different streams is ordered only by
//          events.
//
// Cost     copy() returns when the copy is queued, and usually does not wait for it. But a copy of pageable memory may
//          be complete before copy() returns.
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

// The kinds of memory at the ends of a transfer.
enum class MemoryKind : std::uint8_t {
    pageable,        // ordinary memory of the process
    pinned,          // host memory that the runtime allocates page-locked
    registered,      // ordinary memory that the runtime page-locks afterwards
    write_combined,  // pinned, not cached by the CPU: fast to write, slow to read
    mapped,          // pinned; kernels access it in place (zero copy)
    device,          // the accelerator's own memory
    managed,         // one address for host and device; pages move on demand
    stream_ordered,  // the accelerator's own memory, allocated and freed in the order of a stream
};
[[nodiscard]] const std::vector<MemoryKind>& memory_kinds();
[[nodiscard]] std::string_view name_of(MemoryKind kind) noexcept;

enum class DeviceClass : std::uint8_t { gpu, cpu, accelerator };
[[nodiscard]] std::string_view name_of(DeviceClass device_class) noexcept;

struct DeviceFacts {
    std::string name;
    std::string driver;               // "pocl 3.1 (OpenCL 3.0)", "CUDA 13.0, built with 12.4"
    std::string driver_version;       // of the driver itself: "580.105.08"; empty: not known
    std::uint32_t runtime_version{};  // of the CUDA runtime library: 13000; 0: not CUDA
    std::string architecture;         // "sm_90"; empty: not known
    std::string bus_address;          // "0000:1b:00.0"; empty: not on a PCI bus, or not known
    DeviceClass device_class{};
    std::uint64_t memory_bytes{};
    std::uint64_t largest_block_bytes{};  // the largest single allocation
    std::uint32_t compute_units{};
    bool reaches_ordinary{};    // its kernels can access ordinary memory of the process in place
    bool shares_host_memory{};  // its memory is host memory: pinned and pageable transfers do not differ
    std::optional<std::uint32_t> copy_engines;
    std::optional<std::uint32_t> numa_node;    // the host's NUMA node to which the device is attached
    std::optional<double> memory_bytes_per_s;  // the peak rate of its memory, from clock and bus width
    std::optional<std::uint32_t> nvlinks;      // the number of NVLinks that are up
    std::optional<std::uint64_t> cache_bytes;  // the size of the last-level cache
    std::string environment;             // the environment variables that are set and change the driver's behaviour
    std::string uuid;                    // "GPU-8c3a…"; empty: not known
    std::string part_of;                 // if it is a MIG instance: the uuid of its card; else empty
    std::string serial;                  // of the board; empty: not known
    std::optional<bool> has_ecc;         // whether error correction (ECC) of its memory is on
    std::optional<bool> is_partitioned;  // whether multi-instance GPU (MIG) is on
    std::optional<double> power_limit_w;
    std::optional<std::uint64_t> link_replays;  // packets sent again on its host link since the driver was loaded
};

// The link to the host in its present state. An idle device may have reduced the link to its slowest speed.
struct HostLink {
    std::uint32_t generation{};  // PCI Express generation, 1 to 6
    std::uint32_t lanes{};
    std::uint32_t max_generation{};
    std::uint32_t max_lanes{};
};

// The present clock rates of a device, and what limits them.
struct Clocks {
    std::uint64_t processors_hz{};
    std::uint64_t memory_hz{};
    std::uint64_t max_processors_hz{};
    std::uint64_t max_memory_hz{};
    std::string held_back_by;  // "power_cap, hot_hardware", "unknown"; empty: nothing
    bool is_throttled{};       // limited by a temporary cause, such as heat or the power supply
};

// Returns the highest rate of payload in one direction of a PCI Express link, after encoding and packet headers, with
// payloads of 256 bytes. Returns nullopt if the generation is unknown or `lanes` is 0.
// Sources  PCI Express Base Specification: 2.5 to 64 GT/s per lane; 8b/10b up to generation 2, 128b/130b up to 5, FLITs
//          (242 of 256 bytes) in 6; per packet 24 bytes of framing, sequence number, header and CRC.
[[nodiscard]] std::optional<double> bytes_per_second(std::uint32_t generation, std::uint32_t lanes) noexcept;

// The link from one device to another.
struct PeerLink {
    bool copies{};                         // one call can copy from one device to the other, by whatever route
    bool possible{};                       // peer access can be enabled: `from` can then access the memory of `to`
    bool direct{};                         // peer access is enabled
    std::string reason;                    // why `direct` is false; empty: it is true
    std::optional<std::uint32_t> nvlinks;  // between the devices, directly or through a switch
    bool through_switch{};
};

// The number of objects that are open now.
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
    MemoryId memory{};             // the block; none: ordinary memory at `ordinary`
    std::uint64_t offset_bytes{};  // from the start of the block
    void* ordinary{};              // used if `memory` is none; as the source of a copy it is only read
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
    StreamId stream{};  // for stream_ordered memory: the stream on which the block is allocated and freed
};

struct RawBlock {
    MemoryId id{};
    std::byte* host{};  // the block's address for the CPU; nullptr: it has none, or has one only while it is mapped
};

enum class Access : std::uint8_t { read, write };

enum class Side : std::uint8_t { host, device };

// Hints for a driver about managed memory.
enum class Advice : std::uint8_t {
    stay_on_device,  // the memory moves to the device, and stays there as long as the device has free memory
    stay_on_host,    // the memory stays on the host; the device's kernels access it over the link
};

class Runtime {
  public:
    Runtime() = default;
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;
    virtual ~Runtime() = default;

    [[nodiscard]] virtual std::string_view backend() const noexcept = 0;  // "cuda", "opencl", "none"
    [[nodiscard]] virtual const std::vector<DeviceFacts>& devices() const noexcept = 0;
    [[nodiscard]] virtual std::string absence() const = 0;  // why there is no device; empty: there is one

    // Returns why this device does not support memory of this kind; nullopt: it does.
    [[nodiscard]] virtual std::optional<std::string> lacks(std::uint32_t device, MemoryKind kind) const = 0;
    [[nodiscard]] virtual PeerLink peer(std::uint32_t from, std::uint32_t to) const = 0;
    [[nodiscard]] virtual base::Expected<void> set_peer_access(std::uint32_t from, std::uint32_t to, bool on) = 0;
    [[nodiscard]] virtual std::optional<HostLink> host_link(std::uint32_t device) const = 0;
    [[nodiscard]] virtual std::optional<Clocks> clocks(std::uint32_t /*device*/) const { return std::nullopt; }
    [[nodiscard]] virtual Holdings holdings() const = 0;
    // Returns why all further calls in this process will fail, for example after a kernel broke the driver's context.
    // Returns nullopt if calls still work. Asks the driver.
    [[nodiscard]] virtual std::optional<std::string> lost() const { return std::nullopt; }

    [[nodiscard]] virtual base::Expected<RawBlock> allocate(const BlockRequest& request) = 0;
    // Registers (page-locks) ordinary memory until the block is closed. The caller still owns the memory.
    [[nodiscard]] virtual base::Expected<RawBlock> adopt(std::uint32_t device, void* ordinary, std::uint64_t bytes) = 0;
    virtual base::Expected<void> close(MemoryId memory) = 0;
    // Returns the address of a block of device memory, in an address space that device and host share, for use by other
    // libraries of the same vendor. Returns nullptr if the block has no such address.
    [[nodiscard]] virtual void* native_address(MemoryId /*memory*/) const { return nullptr; }
    // Makes a block of kind `mapped` accessible to the CPU at the returned address. Until unmap() the device must not
    // use it.
    [[nodiscard]] virtual base::Expected<std::byte*> map(MemoryId memory, Access access) = 0;
    [[nodiscard]] virtual base::Expected<void> unmap(MemoryId memory) = 0;

    [[nodiscard]] virtual base::Expected<StreamId> open_stream(std::uint32_t device) = 0;
    virtual base::Expected<void> close(StreamId stream) = 0;  // waits for the stream's work
    // Says whether a device has stream priorities. open_urgent_stream() opens a stream of the highest priority.
    [[nodiscard]] virtual bool has_priorities(std::uint32_t /*device*/) const { return false; }
    [[nodiscard]] virtual base::Expected<StreamId> open_urgent_stream(std::uint32_t device);
    [[nodiscard]] virtual base::Expected<void> wait(StreamId stream) = 0;

    [[nodiscard]] virtual base::Expected<void> copy(StreamId stream, Address to, Address from, std::uint64_t bytes) = 0;
    [[nodiscard]] virtual base::Expected<void> fill(StreamId stream, Address to, std::byte value,
                                                    std::uint64_t bytes) = 0;
    // Copies like copy(), but by a kernel of the device, so kernels must be able to access source and target. Sizes and
    // addresses must be multiples of 16 bytes.
    [[nodiscard]] virtual base::Expected<void> copy_by_kernel(StreamId stream, Address to, Address from,
                                                              std::uint64_t bytes) = 0;
    // Tells a stream how many streams of its device, including itself, copy by kernels at the same time. Its kernels
    // then use only a part of the device, so that kernels of the other streams can run, too.
    [[nodiscard]] virtual base::Expected<void> share_device(StreamId /*stream*/, std::uint32_t /*streams*/)
    {
        return {};
    }
    // write_pattern() writes the pattern of pattern.hpp, and check_pattern() checks it, by a kernel of the device.
    // Sizes and addresses must be multiples of 8 bytes.
    [[nodiscard]] virtual base::Expected<void> write_pattern(StreamId stream, Address to, std::uint64_t bytes,
                                                             Pattern pattern) = 0;
    [[nodiscard]] virtual base::Expected<Mismatch> check_pattern(StreamId stream, Address from, std::uint64_t bytes,
                                                                 Pattern pattern) = 0;  // waits

    // One work item follows a chain in [chain, chain + bytes) by `loads` dependent loads. Each word of the chain is the
    // byte offset of the next word to load. The word at `place` must hold the byte offset of the first load; afterwards
    // it holds the last loaded offset.
    [[nodiscard]] virtual base::Expected<void> follow(StreamId stream, Address chain, std::uint64_t bytes,
                                                      std::uint64_t loads, Address place) = 0;
    // Moves managed memory to the device, or to the host. On the host, the memory goes to the NUMA node nearest to the
    // device, if the driver can be given a node.
    [[nodiscard]] virtual base::Expected<void> prefetch(StreamId stream, Address managed, std::uint64_t bytes,
                                                        Side to) = 0;

    // Tells the driver how this device will use a block of managed memory.
    [[nodiscard]] virtual base::Expected<void> advise(std::uint32_t device, MemoryId managed, Advice advice);
    // Returns how many bytes of the device's memory no process has allocated.
    [[nodiscard]] virtual base::Expected<std::uint64_t> free_bytes(std::uint32_t device) const;

    // Makes an event that happens when all earlier work on the stream is done.
    [[nodiscard]] virtual base::Expected<EventId> record(StreamId stream) = 0;
    virtual base::Expected<void> close(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<void> wait(EventId event) = 0;
    [[nodiscard]] virtual base::Expected<bool> happened(EventId event) = 0;
    // Makes later work on the stream wait for the event.
    [[nodiscard]] virtual base::Expected<void> after(StreamId stream, EventId event) = 0;
    // Returns the time between two events by the device's clock, in seconds. Both events must have happened, on the
    // same device.
    [[nodiscard]] virtual base::Expected<double> seconds_between(EventId first, EventId second) = 0;

    // Holds a stream by a latch: work queued from now on waits until the latch is closed, so that the time between
    // events does not include the cost of queueing. close() returns a timeout error if the stream continued by itself
    // before.
    [[nodiscard]] virtual base::Expected<LatchId> hold(StreamId stream) = 0;
    virtual base::Expected<void> close(LatchId latch) = 0;
};

// Owns one object of a Runtime and closes it exactly one time.
//
// Ownership  The runtime must outlive the handle. The destructor ignores a failed close; call close() to get the error.

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

// Owns a block of memory of one kind.
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

// Copies a device's memory to the host over this stream, 4 MiB at a time, and compares it with the pattern on the host.
// Uses no kernels. `bytes` must be a multiple of 8. Waits for the result.
[[nodiscard]] base::Expected<Mismatch> check_by_host(Runtime& runtime, StreamId stream, Address from,
                                                     std::uint64_t bytes, Pattern pattern);

}  // namespace memsweep::device
