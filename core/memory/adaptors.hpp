// Adaptors: resources that pass every call on to another one, their upstream. They count, limit, fail, time or place
// calls and blocks, advise the kernel on them, or hold freed blocks back.
//
// Ownership  each borrows its upstream and its other arguments, which must outlive it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "core/memory/counters.hpp"
#include "core/memory/resource.hpp"
#include "core/model/specs.hpp"

namespace memsweep::memory {

// The base of adaptors that do not look at the size first. Derived::serve surrounds both ways to allocate: ask() is the
// upstream's answer to this call. Memory goes back to the upstream unchanged, unless Derived overrides deallocate.
//
// Cost     none: serve is known when Derived is compiled. If Upstream is a final class, it is compiled in too; else
//          each call is a virtual one.
template <typename Derived, typename Upstream = MemoryResource>
class Adaptor : public MemoryResource {
  public:
    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept final
    {
        return self().serve([&] { return upstream_.allocate(bytes, alignment); }, bytes, alignment);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept final
    {
        return self().serve([&] { return upstream_.allocate_zeroed(bytes, alignment); }, bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        upstream_.deallocate(ptr, bytes, alignment);
    }

  protected:
    explicit Adaptor(Upstream& upstream) noexcept : upstream_{upstream} {}

    Upstream& upstream_;

  private:
    [[nodiscard]] Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

// Counts exactly what passes through it; the counters may lie in memory that another process watches.
//
// Cost     as Counters: a few plain additions per call.
// Threads  bytes are added once the upstream has granted them, and subtracted once it has taken them back. So while a
//          free is under way they still count as live.
template <typename Upstream>
class Counting final : public Adaptor<Counting<Upstream>, Upstream> {
    using Base = Adaptor<Counting<Upstream>, Upstream>;

  public:
    Counting(Upstream& upstream, Counters& counters) noexcept : Base{upstream}, counters_{counters} {}

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        this->upstream_.deallocate(ptr, bytes, alignment);
        counters_.count_returned(bytes);
    }

  private:
    friend Base;

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t bytes, std::size_t /*alignment*/) noexcept
    {
        const Allocation made = ask();
        if (made.status == AllocStatus::ok) {
            counters_.count_granted(bytes);
        } else {
            counters_.count_refused();
        }
        return made;
    }

    Counters& counters_;
};
using CountingAdaptor = Counting<MemoryResource>;

// Refuses an allocation when more than a limit would be live.
//
// Cost     a compare-and-swap per allocation, an addition per deallocation.
// Errors   over_limit; the upstream is then not asked. A refusal by the upstream is passed on and takes no room.
// Threads  exact: bytes are taken before the upstream is asked and given back after it has freed. So the bytes live
//          upstream never exceed the limit, whatever threads do.
class LimitingAdaptor final : public Adaptor<LimitingAdaptor> {
  public:
    LimitingAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : Adaptor{upstream}, limit_bytes_{limit_bytes}
    {
    }

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        upstream_.deallocate(ptr, bytes, alignment);
        live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    }

  private:
    friend Adaptor;

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t bytes, std::size_t /*alignment*/) noexcept
    {
        if (!take(bytes)) {
            return {nullptr, AllocStatus::over_limit};
        }
        const Allocation made = ask();
        if (made.status != AllocStatus::ok) {
            live_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        }
        return made;
    }

    [[nodiscard]] bool take(std::uint64_t bytes) noexcept
    {
        std::uint64_t live = live_bytes_.load(std::memory_order_relaxed);
        do {
            if (bytes > limit_bytes_ - live) {
                return false;
            }
        } while (!live_bytes_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
        return true;
    }

    std::uint64_t limit_bytes_;
    std::atomic<std::uint64_t> live_bytes_{0};
};

// Refuses every Nth allocation, to show what a program does when memory runs out halfway.
//
// Cost     one relaxed atomic addition per allocation.
// Errors   injected, on requests N, 2N, 3N, ...; the upstream is then not asked.
// Threads  over any number of threads, exactly one in N requests is refused.
class FailingAdaptor final : public Adaptor<FailingAdaptor> {
  public:
    // `every` is at least 1; 1 refuses everything.
    FailingAdaptor(MemoryResource& upstream, std::uint64_t every) noexcept;

  private:
    friend Adaptor;

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept
    {
        const bool refused = (requests_.fetch_add(1, std::memory_order_relaxed) + 1) % every_ == 0;
        return refused ? Allocation{nullptr, AllocStatus::injected} : ask();
    }

    std::uint64_t every_;
    std::atomic<std::uint64_t> requests_{0};
};

// The time that the program's own thread spent in calls into an allocator. The program does not wait for the calls of
// other threads.
//
// Units    nanoseconds of the steady clock.
// Cost     two clock reads for every timed call: those of `timed_from_bytes` and more, which may be system calls. An
//          allocator answers smaller calls from memory that it holds, faster than a clock is read.
// Threads  the program's thread is the one that made this object; any thread may add.
class CallTimes {
  public:
    static constexpr std::size_t timed_from_bytes = 64U << 10U;

    void add(std::uint64_t ns) noexcept
    {
        if (std::this_thread::get_id() == program_) {
            program_ns_.fetch_add(ns, std::memory_order_relaxed);
        }
    }

    [[nodiscard]] std::uint64_t program_ns() const noexcept { return program_ns_.load(std::memory_order_relaxed); }

  private:
    const std::thread::id program_{std::this_thread::get_id()};
    std::atomic<std::uint64_t> program_ns_{0};
};

// Times the calls that pass through it and may be system calls: see CallTimes. Timed calls are out of line, so that the
// others save no register for the clock.
template <typename Upstream>
class Timing final : public MemoryResource {
  public:
    Timing(Upstream& upstream, CallTimes& times, std::size_t from_bytes = CallTimes::timed_from_bytes) noexcept
        : upstream_{upstream}, times_{times}, from_bytes_{from_bytes}
    {
    }

    // The resource for calls of that size if they are not timed; nullptr: they are.
    [[nodiscard]] Upstream* untimed(std::size_t bytes) noexcept { return bytes < from_bytes_ ? &upstream_ : nullptr; }

    [[nodiscard]] Allocation allocate(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return bytes < from_bytes_ ? upstream_.allocate(bytes, alignment) : allocate_timed(bytes, alignment);
    }
    [[nodiscard]] Allocation allocate_zeroed(std::size_t bytes, std::size_t alignment) noexcept override
    {
        return bytes < from_bytes_ ? upstream_.allocate_zeroed(bytes, alignment)
                                   : allocate_zeroed_timed(bytes, alignment);
    }
    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override
    {
        return bytes < from_bytes_ ? upstream_.deallocate(ptr, bytes, alignment)
                                   : deallocate_timed(ptr, bytes, alignment);
    }

  private:
    class Timed {
      public:
        explicit Timed(CallTimes& times) noexcept : times_{times} {}
        Timed(const Timed&) = delete;
        Timed& operator=(const Timed&) = delete;
        ~Timed()
        {
            const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began_;
            times_.add(static_cast<std::uint64_t>(took.count()));
        }

      private:
        CallTimes& times_;
        const std::chrono::steady_clock::time_point began_{std::chrono::steady_clock::now()};
    };

    [[nodiscard, gnu::noinline]] Allocation allocate_timed(std::size_t bytes, std::size_t alignment) noexcept
    {
        const Timed timed{times_};
        return upstream_.allocate(bytes, alignment);
    }
    [[nodiscard, gnu::noinline]] Allocation allocate_zeroed_timed(std::size_t bytes, std::size_t alignment) noexcept
    {
        const Timed timed{times_};
        return upstream_.allocate_zeroed(bytes, alignment);
    }
    [[gnu::noinline]] void deallocate_timed(void* ptr, std::size_t bytes, std::size_t alignment) noexcept
    {
        const Timed timed{times_};
        upstream_.deallocate(ptr, bytes, alignment);
    }

    Upstream& upstream_;
    CallTimes& times_;
    const std::size_t from_bytes_;
};

// Places the pages of a mapping: on nodes, resident from the start, or locked.
//
// Units    bytes; the upstream gives every allocation whole pages of its own.
// Sources  sys::set_memory_policy; madvise(2): MADV_POPULATE_WRITE (Linux 5.14; before it, a write to each page);
//          mlock(2).
// Cost     a system call for each of the three, and the first touch of every page if it is to be resident.
// Errors   no_such_node: mbind refuses the nodes, or a weighted interleave before Linux 6.9; lock_limit:
//          RLIMIT_MEMLOCK, for a process without CAP_IPC_LOCK; out_of_memory: the nodes have no room. After an error
//          the upstream has its memory back.
// Threads  any.
class PlacementAdaptor final : public Adaptor<PlacementAdaptor> {
  public:
    struct Wishes {
        model::NumaSpec numa;
        bool populated{};
        bool locked{};
        std::size_t page_bytes{};  // page size of the upstream's mappings
    };
    PlacementAdaptor(MemoryResource& upstream, const Wishes& wishes) noexcept : Adaptor{upstream}, wishes_{wishes} {}

  private:
    friend Adaptor;

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t bytes, std::size_t alignment) noexcept
    {
        return placed(ask(), bytes, alignment);
    }

    [[nodiscard]] Allocation placed(Allocation made, std::size_t bytes, std::size_t alignment) noexcept;
    [[nodiscard]] AllocStatus place(void* ptr, std::size_t bytes) const noexcept;

    Wishes wishes_;
};

// Asks the kernel for transparent huge pages in large allocations, as NumPy does in its arrays.
//
// Units    bytes.
// Sources  NumPy: MADV_HUGEPAGE for blocks of 4 MiB and more, from their first page boundary on. The advice stays with
//          the addresses: later blocks of malloc there have it too.
// Cost     a madvise per advised allocation; only a comparison for others.
// Errors   those of upstream. A kernel without huge pages refuses the advice; then there are none.
// Threads  as upstream.
class HugePageAdaptor final : public Adaptor<HugePageAdaptor> {
  public:
    HugePageAdaptor(MemoryResource& upstream, std::uint64_t from_bytes) noexcept;

  private:
    friend Adaptor;

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t bytes, std::size_t /*alignment*/) noexcept
    {
        const Allocation made = ask();
        if (made.ptr != nullptr && bytes >= from_bytes_) {
            advise(made.ptr, bytes);
        }
        return made;
    }

    void advise(void* ptr, std::size_t bytes) const noexcept;

    std::uint64_t from_bytes_;
    std::uint64_t page_bytes_;
};

// Fills freed memory with a pattern and holds it back for a while. If the pattern is broken when the memory finally
// goes back, something wrote to it after it was freed.
//
// Units    bytes.
// Cost     freeing writes every byte, and reads it again when the memory leaves quarantine.
// Memory   holds at most `limit_bytes` back, the oldest goes first.
// Threads  any; tags are the caller's and belong to one thread.
// Ownership  borrows the upstream; destruction gives everything back to it.
class QuarantineAdaptor final : public Adaptor<QuarantineAdaptor> {
  public:
    static constexpr unsigned char poison = 0xDB;

    QuarantineAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : Adaptor{upstream}, limit_bytes_{limit_bytes}
    {
    }
    ~QuarantineAdaptor() override;

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    // The tag of the memory that is freed next, for the report of a broken pattern.
    void tag_next(std::uint16_t tag) noexcept { tag_ = tag; }

    // The tags of all memory that was written to after it was freed. It covers memory that has left quarantine since
    // the last call, and all that is still in it, which is then given back.
    [[nodiscard]] std::vector<std::uint16_t> take_broken();

  private:
    friend Adaptor;

    struct Held {
        void* ptr{};
        std::size_t bytes{};
        std::size_t alignment{};
        std::uint16_t tag{};
    };

    template <typename Ask>
    Allocation serve(const Ask& ask, std::size_t /*bytes*/, std::size_t /*alignment*/) noexcept
    {
        return ask();
    }
    void leave(const Held& held);

    std::uint64_t limit_bytes_;
    std::uint16_t tag_{};
    std::mutex mutex_;  // guards everything below
    std::deque<Held> held_;
    std::uint64_t held_bytes_{};
    std::vector<std::uint16_t> broken_;
};

// Whether memory looks like freed memory in quarantine, by its first and last bytes.
[[nodiscard]] bool looks_poisoned(const void* ptr, std::size_t bytes) noexcept;

}  // namespace memsweep::memory
