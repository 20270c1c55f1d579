// The memory at one end of a transfer, and its data. The memory is host memory of some kind on some node, or memory of
// a device.
//
// Units    bytes.
//
// Sources  Host memory is mapped, bound to its node and touched. If it is to be pinned and no device takes part, it is
//          locked (mlock). Some kinds of host memory can be allocated only by a driver; the runtime of the device at
//          the other end does this. A driver cannot be told which node to use. So pinned memory on a chosen node is
//          mapped and bound first, and then registered with the driver. Other memory of a driver is bound by the memory
//          policy of the calling thread. The data are the words of device/pattern.hpp, which follow from a seed. A
//          processor writes and reads them. If no processor can reach the memory, the runtime copies them.
//
// Errors   not_supported, with the reason, if this machine or device lacks the requested kind of memory, or a limit
//          (ulimit -l) forbids it. Also os, budget and device, as in the runtime.
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
    bool or_small{};                              // takes base pages if the kernel gives no huge pages
    // the kind to ask the driver for, if a device is at the other end; absent: the kernel allocates
    std::optional<device::MemoryKind> from_driver;
    bool needs_driver{};  // this kind needs a device at the other end
    bool is_locked{};     // this kind counts as pinned
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

// write_end() writes the words of device/pattern.hpp for this seed to an end. check_end() compares an end with these
// words, and returns the number of wrong words; 0: all are right. If no processor can reach the memory, a stream of
// `device` copies the words.
[[nodiscard]] base::Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end,
                                             std::uint64_t seed);
[[nodiscard]] base::Expected<device::Mismatch> check_end(device::Runtime& runtime, std::uint32_t device,
                                                         const EndMemory& end, std::uint64_t seed);
// Compares every byte of the end with `value`; returns 0 wrong words if all bytes equal it.
[[nodiscard]] base::Expected<device::Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device,
                                                            const EndMemory& end, std::byte value);

}  // namespace memsweep::transfer
