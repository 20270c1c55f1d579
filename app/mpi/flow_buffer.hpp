// The memory that one end of a flow sends from or receives into: of the kind and on the node that its place names.
//
// After every page was touched, the kernel is asked where the memory lies (move_pages). The memory of a device, which a
// processor does not reach, has a buffer on the host beside it; to_wire() and from_wire() copy between the two.
//
// Errors   not_supported: this machine has no such memory, or MPI does not take it, and why; os; device.
// Ownership  what MPI may still write to after a test was given up must be kept.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/transfer/end_memory.hpp"

namespace memsweep::mpi {

class FlowBuffer {
  public:
    // Makes a buffer of whole words. It lies in a vector when `end` is null. `no_devices` says why MPI takes no device
    // memory; empty: it does.
    [[nodiscard]] static base::Expected<std::unique_ptr<FlowBuffer>>
    make(const model::TransferEnd& end, std::uint64_t bytes, const std::string& no_devices);

    [[nodiscard]] std::span<std::uint64_t> words() const noexcept { return words_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return words_.size_bytes(); }
    [[nodiscard]] void* wire() const noexcept { return wire_; }
    [[nodiscard]] base::Expected<void> to_wire() const;
    [[nodiscard]] base::Expected<void> from_wire() const;

    [[nodiscard]] const transfer::EndMemory& end() const noexcept { return end_; }

  private:
    [[nodiscard]] base::Expected<void> copy(device::Address to, device::Address from) const;

    std::unique_ptr<device::Runtime> runtime_;  // outlives what it gave
    std::uint32_t device_{};
    transfer::EndMemory end_;
    std::vector<std::uint64_t> own_;
    std::span<std::uint64_t> words_;
    void* wire_{};
};

}  // namespace memsweep::mpi
