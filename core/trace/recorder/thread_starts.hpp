// Threads from their first instruction on, so that one that never allocates is known too, with the stack that it has.
//
// The stack is the kernel's mapping up to where the C library's data of the thread ends. pthread_getattr_np(3) would
// say it too, but allocates: an affinity mask for any thread, a stream over /proc/self/maps for the first.
//
// Sources  own_mappings.hpp, pthread_attr_getstack(3); _thread_db_sizeof_pthread of glibc.
// Cost     a thread some 5 us.
// Memory   48 KiB for threads that are being created. A forked child keeps those taken that were in creation then.
// Errors   where there is no room a thread is known from its first event on.
// Threads  any.
#pragma once

#include <pthread.h>

#include "core/trace/recorder/stack_bounds.hpp"

namespace memsweep::trace::recorder {

using RunThread = void*(void*);

// What pthread_create is to be told instead: the thread attaches itself, and runs what it was to run.
class ThreadStart {
  public:
    ThreadStart(const pthread_attr_t* attributes, RunThread* body, void* argument) noexcept;
    [[nodiscard]] RunThread* run() const noexcept;
    [[nodiscard]] void* argument() const noexcept;
    // No thread was created.
    void abandon() noexcept;

  private:
    struct Entry;
    static void* begin(void* entry);
    static Entry* take() noexcept;

    RunThread* run_;
    void* argument_;
    Entry* entry_;
};

// Once, while the program has one thread.
void prepare_thread_starts() noexcept;
// The calling thread's, as far as it is known; empty: it is the process's main stack, or cannot be told.
[[nodiscard]] Bounds own_stack() noexcept;

}  // namespace memsweep::trace::recorder
