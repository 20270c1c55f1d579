// The memory at one end of a flow. A flow is data that one rank sends to another. The data are sent from this memory or
// received into it. The argument `end` of make() determines the kind of memory and the NUMA node.
//
// If `end` names host memory, every page is touched; then the kernel is asked on which node the page lies (move_pages).
// MPI sends from wire() or receives into it; wire() is the memory itself. The CPU reads and writes words(), which is
// normally the same memory. If the CPU cannot address the memory, as on a device, words() is a second buffer on the
// host; to_wire() and from_wire() copy between the two buffers.
//
// Errors   not_supported: this machine has no such memory, or MPI cannot use it (the message says why). os: a system
//          call failed. device: a call of the device's runtime failed.
// Ownership  if a test is given up, the buffer must be kept (keep_for_mpi), because MPI may still write to it.
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
    // Makes a buffer of `bytes`, rounded up to 8-byte words. If `end.kind` is `null`, the buffer is ordinary
    // memory (a vector). `no_devices`: why MPI cannot use device memory; empty: it can.
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

    std::unique_ptr<device::Runtime> runtime_;  // must outlive the memory that came from it
    std::uint32_t device_{};
    transfer::EndMemory end_;
    std::vector<std::uint64_t> own_;
    std::span<std::uint64_t> words_;
    void* wire_{};
};

}  // namespace memsweep::mpi
