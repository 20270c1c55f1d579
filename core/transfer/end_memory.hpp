// The memory at one end of a transfer: of the host, of a kind and on a node, or of a device.
//
// Units    bytes.
// Sources  host memory is mapped, bound to its node, touched and, where pinned without a device, locked (mlock); kinds
//          that belong to a driver come from the runtime of the device at the other end.
// Errors   not_supported: this machine, device or limit has no such memory, and why; os; budget; device: as the
// runtime. Ownership  the memory is given back by its destructor; the runtime outlives it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/expected.hpp"
#include "core/device/handles.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/mapped_pages.hpp"
#include "core/transfer/probe.hpp"

namespace memsweep::transfer {

struct EndRequest {
    model::Place place;
    std::uint64_t bytes{};
    std::uint64_t skew_bytes{};           // the data begin so far into the memory
    std::optional<std::uint32_t> driver;  // the device whose runtime pins host memory; absent: none takes part
    bool binds{true};                     // to the node that is named
};

class EndMemory {
  public:
    EndMemory() = default;  // of a place that is null
    [[nodiscard]] static base::Expected<EndMemory> make(device::Runtime& runtime, const EndRequest& request);

    [[nodiscard]] device::Address at(std::uint64_t offset_bytes = 0) const noexcept;
    [[nodiscard]] std::byte* host() const noexcept { return data_; }  // nullptr: a processor does not reach it
    [[nodiscard]] bool is_null() const noexcept { return data_ == nullptr && !block_.valid(); }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t pinned_bytes() const noexcept { return pinned_bytes_; }

    [[nodiscard]] const PlacementProof& proof() const noexcept { return proof_; }
    [[nodiscard]] const std::string& pages() const noexcept { return pages_; }  // "thp", "none"

  private:
    [[nodiscard]] base::Expected<void> map_host(const EndRequest& request);
    [[nodiscard]] base::Expected<void> take_block(device::Runtime& runtime, const EndRequest& request);
    void prove(const std::byte* from, std::uint64_t bytes, std::optional<std::uint32_t> asked);

    std::optional<sys::PagedMemory> mapped_;  // below what the runtime has locked of it
    device::Memory block_;
    std::byte* data_{};
    std::uint64_t skew_bytes_{};
    std::uint64_t bytes_{};
    std::uint64_t pinned_bytes_{};
    PlacementProof proof_{.text = "none"};
    std::string pages_{"none"};
};

}  // namespace memsweep::transfer
