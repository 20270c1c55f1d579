// A second thread that sleeps as long as it lives. With one, the C library takes its locks and std::shared_ptr counts
// with locked instructions, as they do in any program that has threads.
//
// Memory   asleep when the constructor returns, and it has then touched every page it ever will: a working set that is
//          read later changes by none of them. Its stack never becomes huge pages, also where the machine gives them to
//          all memory (transparent_hugepage/enabled: always).
// Errors   std::system_error where a thread, a descriptor or its stack cannot be had.
#pragma once

#include <atomic>
#include <memory>

#include <pthread.h>

#include "core/sys/unique_fd.hpp"

namespace memsweep::sys {

class IdleThread {
  public:
    IdleThread();
    IdleThread(const IdleThread&) = delete;
    IdleThread& operator=(const IdleThread&) = delete;
    ~IdleThread();

  private:
    struct Unmap {
        void operator()(void* stack) const noexcept;
    };

    static void* sleep(void* self) noexcept;

    UniqueFd wake_;
    std::unique_ptr<void, Unmap> stack_;
    std::atomic<bool> started_{};
    pthread_t thread_{};
};

}  // namespace memsweep::sys
