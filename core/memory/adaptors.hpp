// Adaptors: resources that pass calls on to another resource, their upstream. Each adaptor has one task: to count,
// limit, fail or time calls, to place blocks on NUMA nodes, to ask for huge pages, or to delay frees.
//
// Ownership  an adaptor borrows its upstream and its other arguments, which must outlive it.
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

// Base class of most adaptors. allocate and allocate_zeroed both call Derived::serve, which may call ask() to get the
// upstream's answer. deallocate is passed on unchanged unless Derived overrides it.
//
// Cost     calls of serve are static. Calls of the upstream are static if Upstream is a final class, otherwise virtual.
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

// Counts exactly the calls and bytes that pass through it. The counters may lie in memory shared with another process.
//
// Cost     as Counters: a few plain additions per call.
// Threads  bytes are added after the upstream has allocated them, and subtracted after it has freed them. So bytes
//          still count as live while they are being freed.
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

// Refuses allocations that would raise the live bytes above a limit.
//
// Cost     a compare-and-swap per allocation, an atomic subtraction per deallocation.
// Errors   over_limit, without a call of the upstream. Refusals by the upstream are passed on; the refused bytes do not
//          count.
// Threads  any. Bytes count as live from before the upstream allocates them until after it has freed them. So the live
//          bytes of the upstream never exceed the limit.
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

// Refuses every Nth allocation, to show how a program handles running out of memory.
//
// Cost     one relaxed atomic addition per allocation.
// Errors   injected, for requests N, 2N, 3N, ..., without a call of the upstream.
// Threads  any. The requests of all threads are counted together.
class FailingAdaptor final : public Adaptor<FailingAdaptor> {
  public:
    // `every`: N, at least 1; 1 refuses all allocations.
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

// Adds up the time that the program's main thread spent in calls into an allocator. Calls by other threads are not
// included, because the program does not wait for them.
//
// Units    nanoseconds of the steady clock.
// Cost     two clock reads per timed call. Only calls for `timed_from_bytes` or more are timed, because they may be
//          system calls. Smaller calls usually take less time than reading a clock.
// Threads  the main thread is the one that constructs this object. Any thread may call add().
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

// Times the calls for blocks of at least `from_bytes` (see CallTimes). Timed calls are out of line, so that other calls
// need not save registers for the clock reads.
template <typename Upstream>
class Timing final : public MemoryResource {
  public:
    Timing(Upstream& upstream, CallTimes& times, std::size_t from_bytes = CallTimes::timed_from_bytes) noexcept
        : upstream_{upstream}, times_{times}, from_bytes_{from_bytes}
    {
    }

    // Returns the upstream if calls for `bytes` are not timed; nullptr if they are timed.
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

// Puts the pages of each allocation on given NUMA nodes, makes them resident, or locks them, as requested.
//
// Units    bytes. Every allocation of the upstream must be a mapping of its own.
// Sources  sys::set_memory_policy; madvise(2): MADV_POPULATE_WRITE (before Linux 5.14: a write to each page); mlock(2).
// Cost     a system call for each requested property. Making pages resident also costs the first touch of every page.
// Errors   no_such_node: mbind refuses the nodes or, before Linux 6.9, weighted interleaving.
//          lock_limit: RLIMIT_MEMLOCK is exceeded, in a process without CAP_IPC_LOCK.
//          out_of_memory: the nodes are full.
//          After an error the memory has been returned to the upstream.
// Threads  any.
class PlacementAdaptor final : public Adaptor<PlacementAdaptor> {
  public:
    struct Wishes {
        model::NumaSpec numa;
        bool populated{};          // make the pages resident
        bool locked{};             // mlock them
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

// Advises the kernel to use transparent huge pages for large allocations, as NumPy does for its arrays.
//
// Units    bytes.
// Sources  NumPy: MADV_HUGEPAGE for blocks of 4 MiB and more, from their first page boundary on. The advice stays with
//          the address range, so it also applies to blocks that malloc later places in this range.
// Cost     a call of madvise per large allocation; for each smaller one, only a comparison of its size.
// Errors   those of the upstream. A kernel without huge pages refuses the advice, which is ignored.
// Threads  as the upstream.
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

// Fills a freed block with the byte `poison` and keeps it for some time (in quarantine) before it frees the block to
// the upstream. If a byte has changed by then, something wrote to the block after it was freed.
//
// Units    bytes.
// Cost     every byte is written when a block is freed, and read when the block leaves quarantine.
// Memory   at most `limit_bytes` are in quarantine; the blocks freed first leave first.
// Threads  any; tag_next is for one thread only.
// Ownership  borrows the upstream; the destructor frees everything in quarantine.
class QuarantineAdaptor final : public Adaptor<QuarantineAdaptor> {
  public:
    static constexpr unsigned char poison = 0xDB;

    QuarantineAdaptor(MemoryResource& upstream, std::uint64_t limit_bytes) noexcept
        : Adaptor{upstream}, limit_bytes_{limit_bytes}
    {
    }
    ~QuarantineAdaptor() override;

    void deallocate(void* ptr, std::size_t bytes, std::size_t alignment) noexcept override;

    // Sets the tag of blocks that are freed from now on. take_broken reports blocks by their tags.
    void tag_next(std::uint16_t tag) noexcept { tag_ = tag; }

    // Empties the quarantine. Returns the tags of all blocks that left it since the last call of take_broken and had
    // been written to after they were freed.
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

// Whether a block looks like a freed block in quarantine, judging by up to 16 bytes at each end.
[[nodiscard]] bool looks_poisoned(const void* ptr, std::size_t bytes) noexcept;

}  // namespace memsweep::memory
