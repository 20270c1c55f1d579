// One buffer with memory on the host and on a device, copied only when a side needs what the other has.
//
// Units    bytes; copies are counted as they are carried out, one by one.
// Sources  the states of buffer_state.hpp.
// Errors   invalid_input: an illegal request; a copy of other bytes than the buffer has, naming both sizes; a release
//          while a transfer is in flight, naming it. Whatever the runtime answers; the state is then what it was.
// Ownership  the buffer owns both sides; its destructor waits for what is in flight. The runtime outlives it.
// Threads  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>

#include "core/base/expected.hpp"
#include "core/device/handles.hpp"
#include "core/transfer/buffer_state.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::transfer {

// Of one buffer, since it was made.
struct BufferCounts {
    std::uint64_t to_device{};
    std::uint64_t to_host{};
    std::uint64_t bytes_to_device{};
    std::uint64_t bytes_to_host{};
    std::uint64_t spared{};  // requests that needed no copy
    friend bool operator==(const BufferCounts&, const BufferCounts&) = default;
};

class UnifiedBuffer {
  public:
    // No memory yet. `host_kind`: one that a processor reaches.
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

    // The same, returning at once; what is asked next, of the host, waits for it.
    base::Expected<void> begin(BufferRequest request);
    base::Expected<void> finish();
    [[nodiscard]] bool in_flight() const noexcept { return !flights_.empty(); }

    // In place of the host's contents, or of the device's (write_host and write_device are asked for by these).
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
    device::Stream stream_;  // last: closing it waits
    std::deque<Flight> flights_;
    std::uint64_t next_flight_{1};
};

}  // namespace memsweep::transfer
