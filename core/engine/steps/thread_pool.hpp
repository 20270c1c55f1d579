// The threads of parallel blocks. All run the same steps at once, each with arrays of its own. A thread may pass arrays
// on to the next, which then frees memory that another thread has allocated.
//
// Cost     the threads are started, and pinned one per processor in turn, before the baseline; a block costs a wake-up.
//          Passing on spins for the neighbour, and yields.
// Errors   Refusal: the first ends the block in every thread.
// Threads  run belongs to the interpreter's thread.
#pragma once

#include <memory>

#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/named_arrays.hpp"
#include "core/engine/steps/run_region.hpp"

namespace memsweep::engine {

class ThreadPool {
  public:
    // Makes as many threads as the largest parallel block of the program has.
    ThreadPool(const RunRegion& region, CaseMemory& memory, Environment environment);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // The checksums of the threads are chained in their order.
    [[nodiscard]] Refusal run(const Parallel& block, StepRecord& record);

  private:
    class Threads;
    std::unique_ptr<Threads> threads_;
};

}  // namespace memsweep::engine
