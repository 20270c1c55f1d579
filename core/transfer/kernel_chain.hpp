// Runs several kernels on one buffer of a device, one after the other. Between two kernels the buffer stays on the
// device, or is copied to the host and back.
//
// Units    bytes.
//
// Sources  A UnifiedBuffer decides which copies are made. If the buffer stays on the device, all kernels together
//          need one copy in each direction; if not, each kernel needs one copy in each direction.
//
// Data     Each kernel fills the buffer with words of its own (device/pattern.hpp). check() compares the buffer with
//          the words of the last kernel, on the host.
//
// Input    one transfer from host memory to a device, of whole words of 8 bytes. The scenario's reader checks this.
//
// Errors   not_supported: the machine lacks the transfer's device. All other errors are those of UnifiedBuffer.
//
// Threads  one.
#pragma once

#include <string>
#include <utility>

#include "core/base/expected.hpp"
#include "core/model/transfer.hpp"
#include "core/sys/clock.hpp"
#include "core/transfer/transfer_statistics.hpp"
#include "core/transfer/unified_buffer.hpp"

namespace memsweep::transfer {

class KernelChain {
  public:
    [[nodiscard]] static base::Expected<KernelChain> make(device::Runtime& runtime, const sys::Clock& clock,
                                                          const model::TransferJob& job,
                                                          const model::TransferOptions& options);

    [[nodiscard]] base::Expected<void> run_turn();
    [[nodiscard]] base::Expected<std::string> check();  // how many words are wrong, and the first; empty: none
    [[nodiscard]] const TransferStatistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] std::string routes() const;

  private:
    KernelChain(device::Runtime& runtime, const sys::Clock& clock, const model::TransferJob& job,
                const model::TransferOptions& options, UnifiedBuffer buffer)
        : runtime_{&runtime}, clock_{&clock}, job_{job}, options_{options}, buffer_{std::move(buffer)}
    {
    }
    [[nodiscard]] base::Expected<void> run_kernels();

    device::Runtime* runtime_;
    const sys::Clock* clock_;
    model::TransferJob job_;
    model::TransferOptions options_;
    UnifiedBuffer buffer_;
    TransferStatistics statistics_;
};

}  // namespace memsweep::transfer
