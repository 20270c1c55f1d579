// The threads of parallel blocks. All threads run the same steps at once, each with arrays of its own. A thread may
// pass arrays on to the next thread, which then frees memory that another thread has allocated.
//
// Cost     before the baseline, that is, before the first step, the threads are started and pinned to the processors in
//          turn. Running a block costs a wake-up of its threads. A thread that passes arrays on spins, with yields,
//          until its neighbour is ready.
// Errors   Refusal: the first refusal ends the block in every thread.
// Threads  only the interpreter's thread calls run().
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

    // Runs the block in its threads. Afterwards chains the checksums of the threads, in the order of the threads.
    [[nodiscard]] Refusal run(const Parallel& block, StepRecord& record);

  private:
    class Threads;
    std::unique_ptr<Threads> threads_;
};

}  // namespace memsweep::engine
