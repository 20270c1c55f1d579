// Notes each thread and its stack when the thread starts. So threads that never allocate are known too.
//
// A thread's stack is a part of one kernel mapping. At its upper end, the stack holds the data that the C library keeps
// for the thread. pthread_getattr_np(3) is not used, because it allocates: an affinity mask for any thread, and a
// stream over /proc/self/maps for the main thread.
//
// Sources  own_mappings.hpp, pthread_attr_getstack(3); _thread_db_sizeof_pthread of glibc.
// Cost     some 5 us a thread.
// Memory   48 KiB for 1024 threads that are being created at the same time. In a forked child, the entries of threads
//          that were being created stay in use.
// Errors   if all entries are in use, a thread is known only from its first event on.
// Threads  any.
#pragma once

#include <pthread.h>

#include "core/trace/recorder/stack_bounds.hpp"

namespace memsweep::trace::recorder {

using RunThread = void*(void*);

// Replaces the function and the argument that pthread_create is called with. The new thread first gets its log, and
// then runs the program's function.
class ThreadStart {
  public:
    ThreadStart(const pthread_attr_t* attributes, RunThread* body, void* argument) noexcept;
    [[nodiscard]] RunThread* run() const noexcept;
    [[nodiscard]] void* argument() const noexcept;
    // Call if pthread_create has failed.
    void abandon() noexcept;

  private:
    struct Entry;
    static void* begin(void* entry);
    static Entry* take() noexcept;

    RunThread* run_;
    void* argument_;
    Entry* entry_;
};

// Call this one time, while the program has only one thread.
void prepare_thread_starts() noexcept;
// Returns the bounds of the calling thread's stack. Empty: the stack is the process's main stack, or is not known.
[[nodiscard]] Bounds own_stack() noexcept;

}  // namespace memsweep::trace::recorder
