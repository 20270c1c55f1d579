// Threads pinned to processors that begin a piece of work together.
//
// Units    nanoseconds of the clock that is passed in.
//
// Cost     run: waking the threads, which is not timed; they then meet in a spin, and the clock is read by each.
//
// Errors   os: a thread cannot be started or pinned.
//
// Threads  run belongs to the thread that made the pool.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/expected.hpp"
#include "core/sys/clock.hpp"

namespace memsweep::sys {

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

}  // namespace memsweep::sys
