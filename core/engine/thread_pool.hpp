// The threads of parallel blocks: each runs the same steps at once, with arrays of its own, and may pass arrays on to
// the next, which then frees what another thread has allocated.
//
// Cost     the threads are started, and pinned one per processor in turn, before the baseline; a block costs a wake-up.
//          Passing on spins for the neighbour, and yields.
// Errors   AllocStatus in Done: the first refusal ends the block in every thread.
// Threads  run belongs to the interpreter's thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "core/array/kernels.hpp"
#include "core/base/assert.hpp"
#include "core/engine/environment.hpp"
#include "core/engine/named_arrays.hpp"
#include "core/engine/run_region.hpp"
#include "core/memory/paging.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/processors.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::engine {

inline std::size_t max_threads(std::span<const Instruction> instructions)
{
    std::uint64_t max = 0;
    for (const Instruction& one : instructions) {
        const auto* block = std::get_if<Parallel>(&one.operands);
        max = block == nullptr ? max : std::max(max, block->threads);
    }
    return max;
}

inline std::vector<std::uint32_t> processors_in_turn(std::size_t threads)
{
    const std::vector<std::uint32_t> cpus = sys::allowed_cpus();
    std::vector<std::uint32_t> in_turn;
    for (std::size_t i = 0; i < threads && !cpus.empty(); ++i) {
        in_turn.push_back(cpus[i % cpus.size()]);
    }
    return in_turn;
}

class ThreadPool {
  public:
    // As many threads as the largest parallel block of the program has.
    ThreadPool(const RunRegion& region, CaseMemory& memory, Environment environment)
        : region_{region}, memory_{memory}, clock_{environment.clock}, page_bytes_{sys::page_size()},
          members_(max_threads(region.instructions))
    {
        for (Member& member : members_) {
            member.handles.resize(region.slots.size());
            std::size_t max_capacity = 0;
            for (std::size_t i = 0; i < region.slots.size(); ++i) {
                member.handles[i].reserve(region.slots[i].capacity);
                max_capacity = std::max<std::size_t>(max_capacity, region.slots[i].capacity);
            }
            member.inbox.reserve(max_capacity);
        }
        if (!members_.empty()) {
            if (auto pool = sys::PinnedThreads::start(clock_, processors_in_turn(members_.size()))) {
                pool_.emplace(*std::move(pool));
            }
        }
    }

    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // Sums over the threads.
    struct Done {
        std::uint64_t arrays{};
        std::uint64_t pages_touched{};
        std::uint64_t passed{};  // arrays handed to another thread
        std::uint64_t reads{};
        memory::PagesAdvised prefetched;
        memory::AllocStatus status{memory::AllocStatus::ok};
        std::uint64_t refused_bytes{};
    };

    // `checksum` is chained with what the threads have read, in their order.
    [[nodiscard]] Done run(const Parallel& block, std::uint64_t& checksum)
    {
        if (!pool_) {
            return {.status = memory::AllocStatus::no_process};
        }
        const std::span members = std::span{members_}.first(block.threads);
        for (std::size_t number = 0; number < members.size(); ++number) {
            members[number].next = &members[(number + 1) % members.size()];
        }
        aborted_.store(false, std::memory_order_relaxed);
        pool_->run([&](std::size_t number) {
            if (number >= members.size()) {
                return;
            }
            Member& member = members[number];
            member.done = {};
            member.checksum = 0;
            if (!run_body(member, block.body)) {
                aborted_.store(true, std::memory_order_release);
            }
            for (Handles& handles : member.handles) {
                handles.forget();
            }
        });
        Done sum;
        for (Member& member : members) {
            member.inbox.forget();
            member.full.store(false, std::memory_order_relaxed);
            sum.arrays += member.done.arrays;
            sum.pages_touched += member.done.pages_touched;
            sum.passed += member.done.passed;
            sum.reads += member.done.reads;
            sum.prefetched += member.done.prefetched;
            if (member.done.status != memory::AllocStatus::ok) {
                sum.status = member.done.status;
                sum.refused_bytes = member.done.refused_bytes;
            }
            if (member.done.reads != 0) {
                checksum = array::chained(checksum, member.checksum);
            }
        }
        return sum;
    }

  private:
    // One thread's; what its neighbour writes lies on a line of its own.
    struct Member {
        Member* next{};  // in the ring of the block's threads
        std::vector<Handles> handles;
        Done done;
        std::uint64_t checksum{};
        alignas(64) std::atomic<bool> full{false};  // `inbox` holds what the thread before has passed on
        Handles inbox;
    };

    // False: refused, here or in another thread.
    bool run_body(Member& member, const Body& body)
    {
        for (std::uint32_t at = body.begin; at < body.end; at = region_.instructions[at].next) {
            if (!std::visit([&](const auto& operands) { return execute(member, operands); },
                            region_.instructions[at].operands)) {
                return false;
            }
        }
        return true;
    }

    bool execute(Member& member, const Alloc& alloc)
    {
        Handles& handles = member.handles[alloc.as];
        for (std::uint64_t i = 0; i < alloc.count; ++i) {
            auto made = array::Array::create(memory_.heap, alloc.dtype, alloc.shape(), alloc.fill, alloc.touch);
            if (made.status != memory::AllocStatus::ok) {
                member.done.status = made.status;
                member.done.refused_bytes = alloc.array_bytes();
                return false;
            }
            handles.fresh[i] = std::move(made.array);
        }
        handles.rebind(alloc.count);
        handles.written = false;
        member.done.arrays += alloc.count;
        if (alloc.touch != model::Touch::none) {
            member.done.pages_touched += handles.first_touch(page_bytes_);
        }
        return true;
    }

    bool execute(Member& member, const model::Write<SlotIndex>& write)
    {
        Handles& handles = member.handles[write.target];
        for (const array::Array& one : handles.meant()) {
            array::touch(one.data(), one.bytes(), write.touch);
        }
        member.done.pages_touched += handles.first_touch(page_bytes_);
        return true;
    }

    static bool execute(Member& member, const model::Read<SlotIndex>& read)
    {
        for (const array::Array& one : member.handles[read.target].meant()) {
            member.checksum = array::chained(member.checksum, array::checksum(one.data(), one.bytes()));
            ++member.done.reads;
        }
        return true;
    }

    static bool execute(Member& member, const model::Prefetch<SlotIndex>& prefetch)
    {
        for (const array::Array& one : member.handles[prefetch.target].meant()) {
            member.done.prefetched += memory::prefetch(one.data(), one.bytes(), prefetch.how);
        }
        return true;
    }

    static bool execute(Member& member, const model::Drop<SlotIndex>& drop)
    {
        member.handles[drop.target].forget();
        return true;
    }

    // Given before taken: the first inboxes are empty, and each thread empties its own before it waits for the next's.
    bool execute(Member& member, const model::Pass<SlotIndex>& pass)
    {
        Member& next = *member.next;
        Handles& mine = member.handles[pass.target];
        if (!wait_until(next.full, false)) {
            return false;
        }
        const auto hand_over = [](Handles& from, Handles& to) {
            for (std::size_t i = 0; i < from.in_use; ++i) {
                to.current[i] = std::move(from.current[i]);
            }
            to.in_use = std::exchange(from.in_use, 0);
            to.written = from.written;
        };
        member.done.passed += &next == &member ? 0 : mine.in_use;
        hand_over(mine, next.inbox);
        next.full.store(true, std::memory_order_release);
        if (!wait_until(member.full, true)) {
            return false;
        }
        hand_over(member.inbox, mine);
        member.full.store(false, std::memory_order_release);
        return true;
    }

    bool execute(Member& /*member*/, const model::IdleStep& idle)
    {
        clock_.sleep_for(idle.duration);
        return true;
    }

    bool execute(Member& member, const Repeat& repeat)
    {
        for (std::uint64_t turn = 0; turn < repeat.times; ++turn) {
            if (!run_body(member, repeat.body)) {
                return false;
            }
        }
        return true;
    }

    template <typename Other>
    static bool execute(Member& /*member*/, const Other& /*other*/)
    {
        MEMSWEEP_ASSERT(false, "the loader lets no other step into a parallel block");
        return false;
    }

    [[nodiscard]] bool wait_until(const std::atomic<bool>& full, bool value) const
    {
        constexpr int spins_before_yield = 2000;  // the neighbour may not have a processor now
        for (int spins = 0; full.load(std::memory_order_acquire) != value; ++spins) {
            if (aborted_.load(std::memory_order_acquire)) {
                return false;
            }
            if (spins > spins_before_yield) {
                std::this_thread::yield();
            }
        }
        return true;
    }

    const RunRegion& region_;
    CaseMemory& memory_;
    const sys::Clock& clock_;
    std::uint64_t page_bytes_;
    std::vector<Member> members_;
    std::optional<sys::PinnedThreads> pool_;  // none: no block, or threads cannot be had
    std::atomic<bool> aborted_{false};
};

}  // namespace memsweep::engine
