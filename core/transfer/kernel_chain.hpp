// Kernels of a device that run one after the other over one buffer with memory on the host and on the device. What they
// write stays on the device between them, or goes to the host and back.
//
// Units    bytes.
//
// Sources  One copy in each direction for all kernels where the buffer is kept on the device, else one in each
// direction
//          for every kernel.
//
// Data     Each kernel writes a pattern of its own; the host compares the last.
//
// Errors   what the runtime answers; not_supported: this machine lacks the device or the kind of host memory;
//          invalid_input: bytes that are no whole words.
//
// Ownership  Both sides of the buffer are its own; the runtime outlives it.
//
// Threads  one.
#pragma once

#include <string>

#include "core/base/expected.hpp"
#include "core/device/runtime.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/clock.hpp"
#include "core/transfer/end_memory.hpp"
#include "core/transfer/transfer_statistics.hpp"

namespace memsweep::transfer {

class KernelChain {
  public:
    // The host's side is of the kind of the job's source, and a processor reaches it.
    [[nodiscard]] static base::Expected<KernelChain> make(device::Runtime& runtime, const sys::Clock& clock,
                                                          const model::TransferJob& job,
                                                          const model::TransferOptions& options);

    [[nodiscard]] base::Expected<void> run_turn();
    [[nodiscard]] base::Expected<std::string> check();  // what is wrong; empty: nothing
    [[nodiscard]] const TransferStatistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] std::string routes() const;

  private:
    KernelChain(device::Runtime& runtime, const sys::Clock& clock, const model::TransferJob& job,
                const model::TransferOptions& options)
        : runtime_{&runtime}, clock_{&clock}, job_{job}, options_{options}
    {
    }
    [[nodiscard]] base::Expected<void> make_memory();
    [[nodiscard]] base::Expected<void> copy(const device::Address& to, const device::Address& from);  // waits
    [[nodiscard]] base::Expected<void> run_kernels();

    device::Runtime* runtime_;
    const sys::Clock* clock_;
    model::TransferJob job_;
    model::TransferOptions options_;
    EndMemory host_;
    device::Memory on_device_;
    device::Stream stream_;  // last: closing it waits
    TransferStatistics statistics_;
};

}  // namespace memsweep::transfer
