// The transfer steps of one repetition. Their memory is made before the baseline, and their data are compared after the
// end.
//
// Units    bytes, nanoseconds.
// Errors   prepare, run: false, with the reason in the record; unmet if the machine lacks what they need.
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

    // compares the data, and adds up what was done
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
