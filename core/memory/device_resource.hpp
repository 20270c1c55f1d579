// Memory from an accelerator's runtime: pinned, managed, write-combined, mapped, or the device's own.
//
// The processor cannot reach memory of the kinds `device` and `mapped`. Unless the runtime itself gives such a block an
// address, the resource reserves an address range for it, with no memory behind the addresses. The addresses are unique
// and aligned, and a pool may split the range, but an access to it faults. where() translates an address in the range
// into the device address that the runtime's copies take.
//
// Units    bytes.
// Cost     a driver call for each block, tens of microseconds for pinned memory. So this resource should be the
//          upstream of a pool.
// Errors   AllocStatus: out_of_memory if the runtime reports `budget`, no_device_memory if it refuses for another
//          reason.
// Threads  any.
// Ownership  the runtime must outlive the resource. The destructor releases blocks that were not freed.
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
    // `kind` is not `registered` (such memory is adopted, not allocated) and not `pageable`.
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

    // Returns the message of the runtime's last refusal; empty if the runtime has refused nothing.
    [[nodiscard]] std::string last_refusal() const;

    // Returns the device address of a byte of a block; nullopt if no block of this resource contains the byte.
    [[nodiscard]] std::optional<device::Address> where(const void* ptr) const;

  private:
    struct Held {
        device::Memory memory;
        std::byte* begin{};  // the processor's address of the block's first byte
        std::uint64_t bytes{};
        bool is_reserved{};  // a reserved address range without memory
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
    device::Stream stream_;                  // for clearing, and for stream-ordered memory
    std::map<const std::byte*, Held> held_;  // by the address that allocate returned
    std::string last_refusal_;
};

}  // namespace memsweep::memory
