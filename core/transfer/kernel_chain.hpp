// Kernels of a device that run one after the other over one buffer. The buffer stays on the device between them, or
// goes to the host and back.
//
// Units    bytes.
//
// Sources  A unified buffer's requests decide the copies. If the buffer is kept on the device, there is one copy in
//          each direction for all kernels; else there is one in each direction for every kernel.
//
// Data     Each kernel writes a pattern of its own; the host compares the last.
//
// Errors   as UnifiedBuffer; invalid_input: ends other than host memory and a device, or bytes that are no whole words.
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
    [[nodiscard]] base::Expected<std::string> check();  // what is wrong; empty: nothing
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
