// Threads that are pinned to processors, and one that does nothing.
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

// Threads pinned to processors that begin a piece of work together.
//
// Units    nanoseconds of the clock that is passed in.
//
// Cost     run: waking the threads, which is not timed; they then meet in a spin, and the clock is read by each.
//
// Errors   os: a thread cannot be started or pinned.
//
// Threads  run belongs to the thread that made the pool.
class PinnedThreads {
  public:
    // One thread per processor named.
    [[nodiscard]] static base::Expected<PinnedThreads> start(const Clock& clock, std::vector<std::uint32_t> cpus);

    PinnedThreads(const PinnedThreads&) = delete;
    PinnedThreads& operator=(const PinnedThreads&) = delete;
    PinnedThreads(PinnedThreads&&) noexcept;
    PinnedThreads& operator=(PinnedThreads&&) = delete;
    ~PinnedThreads();

    [[nodiscard]] std::size_t size() const noexcept;

    // Every thread calls work(its number from 0). Returns the time from the first one's start to the last one's end.
    std::chrono::nanoseconds run(const std::function<void(std::size_t)>& work);

  private:
    struct State;
    explicit PinnedThreads(std::unique_ptr<State> state);

    std::unique_ptr<State> state_;
};

// A second thread that sleeps as long as it lives. With it the C library takes its locks, and std::shared_ptr counts
// with locked instructions, as in any program that has threads.
//
// Memory   when the constructor returns, the thread sleeps and has touched every page that it ever will. So it changes
//          no working set that is read later. Its stack never becomes huge pages, even if the machine gives them to all
//          memory (transparent_hugepage/enabled: always).
// Errors   std::system_error if a thread, a descriptor or its stack cannot be had.
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
