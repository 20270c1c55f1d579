// Makes buffers from a memory resource. The release discipline, which the ReleaseSpec names, releases the buffers.
//
// Units    bytes; alignment is a power of two.
// Cost     that of the resource and of the discipline, and a control block from the slab. If enough blocks were
//          reserved, making a buffer takes no lock and no malloc. Reusing a buffer that a discipline kept costs at
//          most one virtual call. With a discipline that frees at once, the only call for a new buffer is the one into
//          the resource.
// Errors   AllocStatus, never an exception. After a refusal nothing is acquired.
// Threads  any thread may allocate, drop, free, collect and drain; scopes and tags belong to one thread.
// Ownership  borrows the resource. The destructor frees what the discipline still holds, except for leaked memory. A
//          buffer that outlives its heap is a bug and stops the process.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "core/lifetime/buffer.hpp"
#include "core/lifetime/discipline.hpp"
#include "core/lifetime/slab.hpp"
#include "core/lifetime/thread_cache.hpp"
#include "core/memory/adaptors.hpp"
#include "core/memory/resource.hpp"

namespace memsweep::lifetime {

class Heap {
  public:
    // `times` measures the calls into the resource, so that wait_ns() can leave them out; nullptr: it leaves nothing
    // out.
    Heap(memory::MemoryResource& resource, const model::ReleaseSpec& release, const memory::CallTimes* times = nullptr);
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;
    ~Heap();

    struct Result {
        // Not an aggregate: initialising one would first clear some members, and stores are most of the cost of a cache
        // hit.
        Result(Buffer made, memory::AllocStatus outcome) noexcept : buffer{std::move(made)}, status{outcome} {}

        Buffer buffer;
        memory::AllocStatus status;
    };
    [[nodiscard]] Result allocate(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept
    {
        if (Block* const idle = ThreadCache::take_recent(cache_number_, bytes, alignment); idle != nullptr) {
            return {hand_out(*idle, bytes, zeroed), memory::AllocStatus::ok};
        }
        return allocate_new(bytes, alignment, zeroed);
    }

    // Like allocate(), but makes the buffer in an existing handle, which first drops its old buffer. If the memory is
    // refused, the handle is empty afterwards. Exception: a handle made by Buffer::wrap() is sometimes left as it was.
    // With a discipline that frees at once, no Result is made.
    [[nodiscard]] memory::AllocStatus allocate_into(Buffer& handle, std::uint64_t bytes, std::size_t alignment,
                                                    bool zeroed) noexcept
    {
        if (handle.block_ != nullptr) [[unlikely]] {
            handle.reset();
        }
        return is_prompt_ ? allocate_promptly(handle, bytes, alignment, zeroed)
                          : allocate_by_discipline(handle, bytes, alignment, zeroed);
    }

    // Makes control blocks for this many more buffers, so that no memory must be mapped when the buffers are made.
    void reserve(std::size_t blocks) noexcept;

    // Sets the tag of the next buffers, which names their owner in reports.
    void tag_next(std::uint16_t tag) noexcept { tag_ = tag; }

    // Frees the buffer by hand. The handle stays; with Detection::null its pointer becomes null.
    ManualFree free(Buffer& buffer) noexcept;

    // Drops a handle that the program does not hold, which is a defect (a stray release).
    void release_stray(const Buffer& buffer) noexcept;

    // Whether the buffer's memory may still be used.
    [[nodiscard]] bool accessible(const Buffer& buffer) noexcept;

    void enter_scope() noexcept { discipline_->enter_scope(); }
    void leave_scope(bool by_exception) noexcept { discipline_->leave_scope(by_exception); }
    void collect() noexcept;
    void drain() noexcept;

    // How long callers waited for a collection, for a finalizer or, at a memory limit, for memory to be freed. Calls
    // into the resource that were made during a wait are left out.
    [[nodiscard]] std::uint64_t wait_ns() const noexcept { return wait_ns_.load(relaxed); }

    [[nodiscard]] DisciplineStats stats() const noexcept { return discipline_->stats(); }
    void reset_counts() noexcept { discipline_->reset_counts(); }
    [[nodiscard]] std::uint64_t stray_releases() const noexcept { return discipline_->stray_releases(); }

    // Visits every buffer that was acquired and is not freed: those with handles, and those whose last handle was
    // dropped but whose memory is not freed yet. Exact only while no other thread uses the heap.
    struct Outstanding {
        std::uint16_t tag{};
        std::uint64_t bytes{};
        bool reachable{};         // the buffer has a handle
        std::int64_t since_ns{};  // by the steady clock: when the buffer was dropped; if reachable, see Block::since_ns
    };
    template <typename Visit>
    void each_outstanding(const Visit& visit) const
    {
        slab_.each([&](const Block& block) {
            if (!is_gone(block)) {
                const bool reachable = block.handles(relaxed) > 0;
                visit(Outstanding{block.tag, block.bytes, reachable, block.since_ns});
            }
        });
    }

  private:
    // Takes a block from the discipline's cache; nullptr: no block fits, or there is no cache.
    [[nodiscard]] Block* take_idle(std::uint64_t bytes, std::size_t alignment) noexcept
    {
        return cache_ == nullptr ? nullptr : cache_->take(bytes, alignment);
    }
    [[nodiscard]] Buffer hand_out(Block& idle, std::uint64_t bytes, bool zeroed) const noexcept
    {
        if (zeroed) {
            std::memset(idle.data, 0, bytes);
        }
        if (idle.tag != tag_) {  // a load is cheaper than a store
            idle.tag = tag_;
        }
        return Buffer::begin_kept(idle, bytes);
    }
    [[nodiscard]] Result allocate_new(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] Result acquire(std::uint64_t bytes, std::size_t alignment, bool zeroed) noexcept;
    [[nodiscard]] memory::AllocStatus allocate_promptly(Buffer& empty, std::uint64_t bytes, std::size_t alignment,
                                                        bool zeroed) noexcept
    {
        if (!slab_.has_own()) [[unlikely]] {
            return allocate_by_discipline(empty, bytes, alignment, zeroed);
        }
        // First asks for the memory, then acquires a block. Otherwise the block would occupy a register during the
        // call.
        const memory::Allocation made = ask(reclaimer_.resource(), bytes, alignment, zeroed);
        if (made.status != memory::AllocStatus::ok) [[unlikely]] {
            return made.status;
        }
        Block* const block = slab_.acquire_own();
        give_memory(*block, made, bytes, alignment);
        empty.become(first_handle(*block, bytes));
        return memory::AllocStatus::ok;
    }
    [[nodiscard]] Buffer first_handle(Block& block, std::uint64_t bytes) const noexcept
    {
        if (block.discipline == nullptr) {  // only at the first use: a block never changes its heap
            block.discipline = discipline_.get();
            block.cached = cache_ != nullptr;
            block.local = is_local_;
        }
        block.tag = tag_;
        return Buffer::begin(block, bytes);
    }
    [[nodiscard]] memory::AllocStatus allocate_by_discipline(Buffer& empty, std::uint64_t bytes, std::size_t alignment,
                                                             bool zeroed) noexcept;
    [[nodiscard]] memory::AllocStatus before_allocate(std::uint64_t bytes) noexcept;
    template <typename Action>
    void wait_for(const Action& action) noexcept;

    const model::ReleaseSpec release_;
    BlockSlab slab_;
    Reclaimer reclaimer_;
    std::unique_ptr<Discipline> discipline_;
    ThreadCache* cache_;          // of the discipline; nullptr: none
    std::uint64_t cache_number_;  // 0: none
    bool is_prompt_;              // a new buffer needs nothing from the discipline
    bool reuses_;
    bool is_local_;
    bool may_wait_;
    const memory::CallTimes* times_;
    std::atomic<std::uint64_t> wait_ns_{0};
    std::uint16_t tag_{};
};

}  // namespace memsweep::lifetime
