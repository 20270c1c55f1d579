// The memory at one end of a transfer, and the data in it: host memory of a kind and on a node, or a device's.
//
// Units    bytes.
//
// Sources  Host memory is mapped, bound to its node, touched and, if it is pinned without a device, locked (mlock).
//          Kinds that belong to a driver come from the runtime of the device at the other end. Pinned memory on a node
//          is bound there first and then registered, because no driver takes a node. The data are the pattern of
//          device/pattern.hpp. A processor writes and reads them; on a device it uses copies of the runtime.
//
// Errors   not_supported: this machine, device or limit has no such memory, with the reason; os; budget; device: as the
//          runtime.
//
// Ownership  The destructor gives the memory back; the runtime outlives it.
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
    model::PageKind pages{model::PageKind::thp};    // pages of mapped memory
    bool or_small{};                                // base pages will do if there are no huge ones
    std::optional<device::MemoryKind> from_driver;  // if a device is at the other end; absent: the kernel gives it
    bool needs_driver{};                            // no kernel gives such memory
    bool is_locked{};                               // it counts as pinned
};
[[nodiscard]] HostTraits traits_of(model::HostKind kind) noexcept;

struct EndRequest {
    model::TransferEnd end;
    std::uint64_t bytes{};
    std::uint64_t skew_bytes{};           // the data begin so far into the memory
    std::optional<std::uint32_t> driver;  // the device whose runtime pins host memory; absent: none takes part
    bool binds{true};                     // to the named node
};

class EndMemory {
  public:
    EndMemory() = default;  // an end that is null
    [[nodiscard]] static base::Expected<EndMemory> make(device::Runtime& runtime, const EndRequest& request);

    [[nodiscard]] device::Address at(std::uint64_t offset_bytes = 0) const noexcept;
    [[nodiscard]] std::byte* host() const noexcept { return data_; }  // nullptr: a processor does not reach it
    [[nodiscard]] bool is_null() const noexcept { return data_ == nullptr && !block_.valid(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_; }

    [[nodiscard]] const sys::PlacementProof& proof() const noexcept { return proof_; }
    [[nodiscard]] const std::string& pages() const noexcept { return proof_.pages; }  // "thp", "none"

  private:
    [[nodiscard]] base::Expected<void> map_host(const EndRequest& request, bool registers);
    [[nodiscard]] base::Expected<void> take_block(device::Runtime& runtime, const EndRequest& request);

    std::optional<sys::PlacedMemory> mapped_;  // outlives the block that registers it
    device::Memory block_;
    std::byte* data_{};
    std::uint64_t skew_bytes_{};
    std::uint64_t bytes_{};
    std::uint64_t pinned_bytes_{};
    sys::PlacementProof proof_;
};

// Write the pattern, and compare it. `device`: its stream copies memory that a processor does not reach.
[[nodiscard]] base::Expected<void> write_end(device::Runtime& runtime, std::uint32_t device, const EndMemory& end,
                                             std::uint64_t seed);
[[nodiscard]] base::Expected<device::Mismatch> check_end(device::Runtime& runtime, std::uint32_t device,
                                                         const EndMemory& end, std::uint64_t seed);
// Compares every byte with this one.
[[nodiscard]] base::Expected<device::Mismatch> check_filled(device::Runtime& runtime, std::uint32_t device,
                                                            const EndMemory& end, std::byte value);

}  // namespace memsweep::transfer
