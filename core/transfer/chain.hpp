// Kernels of a device, one after the other over the same buffer: on the device all the while, or there and back
// between.
//
// Units    bytes.
// Sources  a unified buffer's requests decide what is copied. What is kept takes one copy each way, whatever the number
//          of kernels; what goes back and forth takes one each way for every kernel.
// Data     each kernel writes a pattern of its own; the host compares the last.
// Errors   as UnifiedBuffer; invalid_input: ends other than host memory and a device, or bytes that are no whole words.
// Threads  one.
#pragma once

#include <string>
#include <utility>

#include "core/base/expected.hpp"
#include "core/model/transfer_step.hpp"
#include "core/sys/clock.hpp"
#include "core/transfer/transfer_statistics.hpp"
#include "core/transfer/unified_buffer.hpp"

namespace memsweep::transfer {

class Chain {
  public:
    [[nodiscard]] static base::Expected<Chain> make(device::Runtime& runtime, const sys::Clock& clock,
                                                    const model::TransferJob& job,
                                                    const model::TransferOptions& options);

    [[nodiscard]] base::Expected<void> run_turn();
    [[nodiscard]] base::Expected<std::string> check();  // what is wrong; empty: nothing
    [[nodiscard]] const TransferStatistics& statistics() const noexcept { return statistics_; }
    [[nodiscard]] std::string routes() const;

  private:
    Chain(device::Runtime& runtime, const sys::Clock& clock, const model::TransferJob& job,
          const model::TransferOptions& options, UnifiedBuffer buffer)
        : runtime_{&runtime}, clock_{&clock}, job_{job}, options_{options}, buffer_{std::move(buffer)}
    {
    }
    [[nodiscard]] base::Expected<void> carry_out();

    device::Runtime* runtime_;
    const sys::Clock* clock_;
    model::TransferJob job_;
    model::TransferOptions options_;
    UnifiedBuffer buffer_;
    TransferStatistics statistics_;
};

}  // namespace memsweep::transfer
