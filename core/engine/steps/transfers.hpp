// The transfer steps of one repetition. Their memory is allocated before the first step. After the last step, the data
// at the destinations are checked.
//
// Units    bytes, nanoseconds.
// Errors   prepare() and run() return false; the record says why. Its `unmet` is set if the machine lacks something
//          that the transfers need.
// Threads  the interpreter's.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/transfer/kernel_chain.hpp"
#include "core/transfer/transfer_set.hpp"

namespace memsweep::engine {

class Transfers {
  public:
    Transfers(const RunRegion& region, Environment environment);

    [[nodiscard]] bool prepare();

    [[nodiscard]] bool run(const Transfer& transfer);

    // Checks the data at the destinations, and adds the work of all transfers to the record.
    void finish();

  private:
    using Prepared = std::variant<transfer::TransferSet, transfer::KernelChain>;

    [[nodiscard]] base::Expected<void> prepare(const TransferPlan& plan);

    [[nodiscard]] bool fail(const base::Error& error);

    const RunRegion& region_;
    Environment environment_;
    TransferRecord& record_;
    std::unique_ptr<device::Runtime> none_;
    std::vector<Prepared> prepared_;
};

}  // namespace memsweep::engine
