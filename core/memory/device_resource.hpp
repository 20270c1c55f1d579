// Memory that an accelerator's runtime gives: pinned, managed, write-combined, or the device's own.
//
// Memory that the processor cannot reach (device, mapped) gets reserved addresses that lead nowhere. They are unique
// and aligned, may be divided, and fault when touched. where() turns any of them into the address that copies take.
// Units    bytes.
// Cost     a call of the driver for each block, tens of microseconds for pinned memory; a pool belongs above it.
// Errors   as MemoryResource says: out_of_memory if the runtime says budget; no_device_memory for its other refusals.
// Threads  as MemoryResource says.
// Ownership  the runtime outlives it; blocks that are not given back are released with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/device/runtime.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

class DeviceResource final : public MemoryResource {
  public:
    // `kind` is neither registered memory, which is adopted, nor pageable.
    DeviceResource(device::Runtime& runtime, std::uint32_t device, device::MemoryKind kind);
    ~DeviceResource() override;
    DeviceResource(const DeviceResource&) = delete;
    DeviceResource& operator=(const DeviceResource&) = delete;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return hold(bytes, alignment, false);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return hold(bytes, alignment, true);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    // The runtime's last refusal in words; empty: it has refused nothing.
    [[nodiscard]] std::string last_refusal() const;

    // The place of a byte inside a block of this resource; absent: none of its blocks has it.
    [[nodiscard]] std::optional<device::Address> where(const void* ptr) const;

  private:
    struct Held {
        device::Memory memory;
        std::byte* begin{};  // the address that stands for the block's first byte
        std::uint64_t bytes{};
        bool is_reserved{};  // addresses that lead nowhere
    };

    [[nodiscard]] Allocation hold(std::size_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] base::Expected<Held> take(std::uint64_t bytes);
    [[nodiscard]] Allocation refused(const base::Error& error);
    [[nodiscard]] base::Expected<void> clear(const device::Memory& memory);
    static void give_up(Held& held) noexcept;

    device::Runtime& runtime_;
    std::uint32_t device_;
    device::MemoryKind kind_;
    mutable std::mutex mutex_;
    device::Stream stream_;                  // that clears, and keeps the order of stream-ordered memory
    std::map<const std::byte*, Held> held_;  // by the address given out
    std::string last_refusal_;
};

}  // namespace memsweep::memory
