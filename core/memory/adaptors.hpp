// Adaptors that count, limit, fail and time what passes through them to their upstream.
//
// Ownership  each borrows its upstream and what else it is given, which must outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/memory/counters.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::memory {

// Counts exactly what passes through it; the counters may lie in memory that another process watches.
//
// Cost     as Counters: a few plain additions per call.
// Threads  bytes are added once the upstream has granted them and subtracted once it has taken them back, so while a
//          free is under way they still count as live.
class CountingAdaptor final : public MemoryResource {
  public:
    CountingAdaptor(MemoryResource& upstream, Counters& counters) noexcept : upstream_{upstream}, counters_{counters} {}

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    Allocation counted(Allocation allocation, std::size_t bytes) noexcept;

    MemoryResource& upstream_;
    Counters& counters_;
};

// Refuses an allocation when more than a limit would be live.
//
// Cost     a compare-and-swap per allocation, an addition per deallocation.
// Errors   over_limit; the upstream is then not asked. What the upstream refuses is passed on and takes no room.
// Threads  exact: bytes are taken before the upstream is asked and given back after it has freed, so what is live
//          upstream never exceeds the limit, whatever threads do.
class LimitingAdaptor final : public MemoryResource {
  public:
    LimitingAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : upstream_{upstream}, limit_bytes_{limit_bytes}
    {
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] bool take(std::uint64_t bytes) noexcept;
    Allocation settled(Allocation allocation, std::uint64_t bytes) noexcept;

    MemoryResource& upstream_;
    std::uint64_t limit_bytes_;
    std::atomic<std::uint64_t> live_bytes_{0};
};

// Refuses every Nth allocation, to show what a program does when memory runs out halfway.
//
// Cost     one relaxed atomic addition per allocation.
// Errors   injected, on requests N, 2N, 3N, ...; the upstream is then not asked.
// Threads  over any number of threads, exactly one in N requests is refused.
class FailingAdaptor final : public MemoryResource {
  public:
    // `every` is at least 1; 1 refuses everything.
    FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept;

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    [[nodiscard]] bool refuses_this_one() noexcept;

    MemoryResource& upstream_;
    std::uint64_t every_;
    std::atomic<std::uint64_t> requests_{0};
};

// How long calls into an allocator took: the program's own thread, and all others, which no program waits for.
//
// Units    nanoseconds of the steady clock.
// Cost     two clock reads for every call that is timed: those of `timed_from_bytes` and more, which may be system
//          calls. Smaller ones are answered from memory that the allocator has, faster than a clock is read.
// Threads  the program's thread is the one that made it; any thread may add.
class CallTimes {
  public:
    static constexpr std::size_t timed_from_bytes = 64U << 10U;

    void add(std::uint64_t ns) noexcept
    {
        auto& sum = std::this_thread::get_id() == program_ ? program_ns_ : others_ns_;
        sum.fetch_add(ns, std::memory_order_relaxed);
    }

    [[nodiscard]] std::uint64_t program_ns() const noexcept { return program_ns_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t others_ns() const noexcept { return others_ns_.load(std::memory_order_relaxed); }

  private:
    const std::thread::id program_{std::this_thread::get_id()};
    std::atomic<std::uint64_t> program_ns_{0};
    std::atomic<std::uint64_t> others_ns_{0};
};

// Times the calls that pass through it, where they may be system calls: see CallTimes.
class TimingAdaptor final : public MemoryResource {
  public:
    TimingAdaptor(MemoryResource& upstream, CallTimes& times,
                  std::size_t from_bytes = CallTimes::timed_from_bytes) noexcept
        : upstream_{upstream}, times_{times}, from_bytes_{from_bytes}
    {
    }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override;
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override;
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

  private:
    MemoryResource& upstream_;
    CallTimes& times_;
    const std::size_t from_bytes_;
};

}  // namespace memsweep::memory
