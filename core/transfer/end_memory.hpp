// The memory at one end of a transfer, and its data. The memory is host memory of some kind on some node, or memory of
// a device.
//
// Units    bytes.
//
// Sources  Host memory is mapped, bound to its node and touched. If it is to be pinned and no device takes part, it is
//          locked (mlock). Some kinds of host memory are allocated only by a driver: the runtime of the device at the
//          other end allocates them. A driver cannot be told which node to use, so pinned memory on a node is mapped
//          and bound first and then registered. The data are the pattern of device/pattern.hpp. A processor writes and
//          reads them; memory that it cannot reach is copied by the runtime.
//
// Errors   not_supported, with the reason: this machine or device has no such memory, or a limit forbids it; os;
//          budget; device: as the runtime.
//
// Ownership  The destructor frees the memory. The runtime must outlive this object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/expected.hpp"
#include "core/device/pattern.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/placed_memory.hpp"

namespace memsweep::transfer {

// The properties of a kind of host memory.
struct HostTraits {
    model::PageKind pages{model::PageKind::thp};  // pages of mapped memory
    bool or_small{};                              // base pages are taken if huge pages cannot be had
    // the kind to ask the driver for, if a device is at the other end; absent: the kernel allocates
    std::optional<device::MemoryKind> from_driver;
    bool needs_driver{};  // it needs a device at the other end
    bool is_locked{};     // it counts as pinned
};
[[nodiscard]] HostTraits traits_of(model::HostKind kind) noexcept;

struct EndRequest {
    model::TransferEnd end;
    std::uint64_t bytes{};
    std::uint64_t skew_bytes{};           // offset of the data in the memory
    std::optional<std::uint32_t> driver;  // the device whose runtime pins host memory; absent: no device takes part
    bool binds{true};                     // binds host memory to the node that `end` names
};

class EndMemory {
  public:
    EndMemory() = default;  // a null end: no memory
    [[nodiscard]] static base::Expected<EndMemory> make(device::Runtime& runtime, const EndRequest& request);

    [[nodiscard]] device::Address at(std::uint64_t offset_bytes = 0) const noexcept;
    [[nodiscard]] std::byte* host() const noexcept { return data_; }  // nullptr: a processor cannot reach the memory
    [[nodiscard]] bool is_null() const noexcept { return data_ == nullptr && !block_.valid(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_; }

    [[nodiscard]] const sys::PlacementProof& proof() const noexcept { return proof_; }
    [[nodiscard]] const std::string& pages() const noexcept { return proof_.pages; }  // "thp", "none"

  private:
    [[nodiscard]] base::Expected<void> map_host(const EndRequest& request, bool registers);
    [[nodiscard]] base::Expected<void> take_block(device::Runtime& runtime, const EndRequest& request);

    std::optional<sys::PlacedMemory> mapped_;  // destroyed after block_, which may register it
    device::Memory block_;
    std::byte* data_{};
    std::uint64_t skew_bytes_{};
    std::uint64_t bytes_{};
    std::uint64_t pinned_bytes_{};
    sys::PlacementProof proof_;
};

// write_end() writes the pattern to an end, check_end() compares an end with it. `device`: if a processor cannot reach
// the memory, this device's stream copies it.
[[nodiscard]] base::Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end,
                                             std::uint64_t seed);
[[nodiscard]] base::Expected<device::Mismatch> check_end(device::Runtime& runtime, std::uint32_t device,
                                                         const EndMemory& end, std::uint64_t seed);
// Compares every byte of the end with `value`.
[[nodiscard]] base::Expected<device::Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device,
                                                            const EndMemory& end, std::byte value);

}  // namespace memsweep::transfer
