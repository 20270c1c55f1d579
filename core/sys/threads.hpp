// Threads that are pinned to processors, and a thread that only sleeps.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::sys {

// A pool of threads, each pinned to a processor, that begin a piece of work at the same time.
//
// Units    nanoseconds of the clock that is passed in.
//
// Cost     run() wakes the threads. Each thread spins until all threads are awake, and reads the clock only after that.
//          So the measured time does not include the waking.
//
// Errors   os: a thread cannot be started or pinned; not_supported: no processors were given.
//
// Threads  call run() only from the thread that made the pool.
class PinnedThreads {
  public:
    // Starts one thread for each processor in `cpus`.
    [[nodiscard]] static base::Expected<PinnedThreads> start(const Clock& clock, std::vector<std::uint32_t> cpus);

    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;
    PinnedThreads(PinnedThreads&&) noexcept;
    PinnedThreads& operator=(PinnedThreads&&) = delete;
    ~PinnedThreads();

    [[nodiscard]] std::size_t size() const noexcept;

    // Makes every thread call work(n), where n is the thread's number, from 0. Returns the time from the first thread's
    // start to the last thread's end.
    std::chrono::nanoseconds run(const std::function<void(std::size_t)>& work);

  private:
    struct State;
    explicit PinnedThreads(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

// A second thread that only sleeps. While it exists, the process behaves like a process with several threads: the C
// library uses its locks, and std::shared_ptr counts with atomic instructions.
//
// Memory   when the constructor returns, the thread sleeps and has touched all pages that it will ever touch. So a
//          resident set that is read later does not change because of this thread. Its stack never gets huge pages,
//          even if transparent_hugepage/enabled is `always`.
// Errors   throws std::system_error if the thread, its stack or a descriptor cannot be made.
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
