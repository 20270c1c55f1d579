// A buffer with memory on two sides, the host and a device. Data are copied only if one side needs contents that only
// the other side has.
//
// In this table, a row is a state and a column is a request. A cell names the copy, if one is made, and the next state;
// - means no change. H2D is a copy from host to device, D2H one from device to host.
//
//                    ensure_host      ensure_device    synchronize      write_host       write_device
//   uninitialized    host_only        device_only      H2D synchronized host_only        device_only
//   host_only        -                H2D synchronized H2D synchronized -                H2D device_dirty
//   device_only      D2H synchronized -                D2H synchronized D2H host_dirty   -
//   synchronized     -                -                -                host_dirty       device_dirty
//   host_dirty       -                H2D synchronized H2D synchronized -                error
//   device_dirty     D2H synchronized -                D2H synchronized D2H host_dirty   -
//   released         error            error            error            error            error
//
// write_host and write_device: the host or the device is about to write in place, over the current contents.
// mark_host_dirty and mark_device_dirty: the host or the device has written already. These two requests copy nothing.
// Therefore, each of them is an error if it would lose what the other side has written, or if the side that it names
// has no memory.
//
// A request that is not an error allocates the memory that its next state needs and the buffer lacks, and fills it with
// a fixed byte.
//
// Units    bytes. BufferCounts counts every copy.
//
// Sources  the states are those of DotCompute's unified buffer. In DotCompute, a mark request may silently lose data;
//          here, it is an error instead.
//
// Errors   not_supported: a kind of host memory that the processor can access only while it is mapped.
//          invalid_input: a request that the state does not allow (the message says what to ask for instead); contents
//          of another size than the buffer (the message has both sizes); a release during a copy (the message names the
//          copy). If the runtime fails in ask() or begin(), the state is unchanged. If it fails in finish(), the state
//          is the one that begin() set.
//
// Ownership  The buffer owns the memory of both sides. Its destructor waits for copies in flight. The runtime must
//            outlive the buffer.
//
// Threads  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/names.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::transfer {

enum class BufferState : std::uint8_t {
    uninitialized,
    host_only,
    device_only,
    synchronized,
    host_dirty,
    device_dirty,
    released,
};

enum class BufferRequest : std::uint8_t {
    ensure_host,
    ensure_device,
    synchronize,
    write_host,
    write_device,
    mark_host_dirty,
    mark_device_dirty,
    release,
};

enum class BufferCopy : std::uint8_t { none, host_to_device, device_to_host };

struct BufferMove {
    BufferState next{};
    BufferCopy copy{};
    friend bool operator==(const BufferMove&, const BufferMove&) = default;
};

// Returns a cell of the table above.
[[nodiscard]] base::Expected<BufferMove> next_move(BufferState state, BufferRequest request);

}  // namespace memsweep::transfer

namespace memsweep::model {
template <>
std::span<const Named<transfer::BufferState>> names<transfer::BufferState>();
template <>
std::span<const Named<transfer::BufferRequest>> names<transfer::BufferRequest>();
}  // namespace memsweep::model

namespace memsweep::transfer {

// The copies of one buffer since it was made.
struct BufferCounts {
    std::uint64_t to_device{};
    std::uint64_t to_host{};
    std::uint64_t bytes_to_device{};
    std::uint64_t bytes_to_host{};
    std::uint64_t spared{};  // number of requests that needed no copy
    friend bool operator==(const BufferCounts&, const BufferCounts&) = default;
};

class UnifiedBuffer {
  public:
    // Allocates nothing yet. `host_kind`: a kind of memory that the processor can access at any time.
    [[nodiscard]] static base::Expected<UnifiedBuffer> make(device::Runtime& runtime, std::uint32_t device,
                                                            std::uint64_t bytes,
                                                            model::HostKind host_kind = model::HostKind::pinned);

    UnifiedBuffer(const UnifiedBuffer&) = delete;
    UnifiedBuffer& operator=(const UnifiedBuffer&) = delete;
    UnifiedBuffer(UnifiedBuffer&&) noexcept = default;
    UnifiedBuffer& operator=(UnifiedBuffer&&) = delete;
    ~UnifiedBuffer();

    // Carries a request out and returns when its copy has arrived.
    base::Expected<void> ask(BufferRequest request);

    // begin() starts a request and returns at once; finish() waits for the request's copy.
    base::Expected<void> begin(BufferRequest request);
    base::Expected<void> finish();
    [[nodiscard]] bool in_flight() const noexcept { return !flights_.empty(); }

    // assign() asks for write_host, then overwrites the host's side with `contents`. copy_out() asks for ensure_host,
    // then copies the host's side to `into`.
    base::Expected<void> assign(std::span<const std::byte> contents);
    base::Expected<void> copy_out(std::span<std::byte> into);

    [[nodiscard]] BufferState state() const noexcept { return state_; }
    [[nodiscard]] const BufferCounts& counts() const noexcept { return counts_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::byte* host() const noexcept { return host_ ? host_->host() : nullptr; }
    [[nodiscard]] device::Address on_device() const noexcept { return device_memory_.at(); }
    [[nodiscard]] device::StreamId stream() const noexcept { return stream_.id(); }

  private:
    struct Flight {
        std::uint64_t number{};
        BufferCopy copy{};
    };

    UnifiedBuffer(device::Runtime& runtime, std::uint32_t device, std::uint64_t bytes, model::HostKind host_kind)
        : runtime_{&runtime}, device_{device}, bytes_{bytes}, host_kind_{host_kind}
    {
    }
    [[nodiscard]] base::Expected<void> make_host();
    [[nodiscard]] base::Expected<void> make_device();
    [[nodiscard]] base::Expected<void> start(BufferCopy copy);
    [[nodiscard]] base::Expected<void> release();
    [[nodiscard]] std::string describe(const Flight& flight) const;
    [[nodiscard]] base::Expected<void> check_size(std::uint64_t bytes) const;

    device::Runtime* runtime_;
    std::uint32_t device_;
    std::uint64_t bytes_;
    model::HostKind host_kind_;
    BufferState state_{BufferState::uninitialized};
    BufferCounts counts_;
    std::unique_ptr<EndMemory> host_;
    device::Memory device_memory_;
    device::Stream stream_;  // closed before the memory above is freed; closing it waits for its copies
    std::deque<Flight> flights_;
    std::uint64_t next_flight_{1};
};

}  // namespace memsweep::transfer
