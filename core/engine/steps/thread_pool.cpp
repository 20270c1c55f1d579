#include "core/engine/steps/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/array/kernels.hpp"
#include "core/base/assert.hpp"
#include "core/memory/paging.hpp"
#include "core/sys/processors.hpp"
#include "core/sys/threads.hpp"

namespace memsweep::engine {
namespace {

std::size_t max_threads(std::span<const Instruction> instructions)
{
    std::uint64_t max = 0;
    for (const Instruction& one : instructions) {
        const auto* block = std::get_if<Parallel>(&one.operands);
        max = block == nullptr ? max : std::max(max, block->threads);
    }
    return max;
}

std::vector<std::uint32_t> processors_in_turn(std::size_t threads)
{
    const std::vector<std::uint32_t> cpus = sys::allowed_cpus();
    std::vector<std::uint32_t> in_turn;
    for (std::size_t i = 0; i < threads && !cpus.empty(); ++i) {
        in_turn.push_back(cpus[i % cpus.size()]);
    }
    return in_turn;
}

}  // namespace

class ThreadPool::Threads {
  public:
    Threads(const RunRegion& region, CaseMemory& memory, Environment environment)
        : region_{region}, clock_{environment.clock}
    {
        const std::size_t threads = max_threads(region.instructions);
        while (members_.size() < threads) {
            members_.emplace_back(region, memory);
        }
        if (!members_.empty()) {
            if (auto pool = sys::PinnedThreads::start(clock_, processors_in_turn(members_.size()))) {
                pool_.emplace(*std::move(pool));
            }
        }
    }

    [[nodiscard]] Refusal run(const Parallel& block, StepRecord& record)
    {
        if (!pool_) {
            return {memory::AllocStatus::no_process};
        }
        for (std::size_t number = 0; number < block.threads; ++number) {
            members_[number].next = &members_[(number + 1) % block.threads];
        }
        aborted_.store(false, std::memory_order_relaxed);
        pool_->run([&](std::size_t number) {
            if (number >= block.threads) {
                return;
            }
            Member& member = members_[number];
            member.counts = {};
            member.refusal = {};
            member.passed = 0;
            member.prefetched = {};
            if (!run_body(member, block.body)) {
                aborted_.store(true, std::memory_order_release);
            }
            member.arrays.forget();
        });
        Refusal refusal;
        ArrayCounts& sum = record.array_counts;
        for (std::size_t number = 0; number < block.threads; ++number) {
            Member& member = members_[number];
            member.inbox.forget();
            member.full.store(false, std::memory_order_relaxed);
            sum.made += member.counts.made;
            sum.pages_touched += member.counts.pages_touched;
            sum.reads += member.counts.reads;
            record.counts[model::MetricId::passed_arrays].add(member.passed);
            record.counts[model::MetricId::prefetched_bytes].add(member.prefetched.bytes, !member.prefetched.refused);
            if (member.refusal.status != memory::AllocStatus::ok) {
                refusal = {member.refusal.status, member.refusal.bytes};
            }
            if (member.counts.reads != 0) {
                sum.checksum = array::chained(sum.checksum, member.counts.checksum);
            }
        }
        return refusal;
    }

  private:
    // One thread's; what its neighbour writes lies on a line of its own.
    struct Member {
        Member(const RunRegion& region, CaseMemory& memory) : arrays{region, memory, counts, false}
        {
            for (const ArraySlot& slot : region.slots) {
                inbox.reserve(std::max<std::size_t>(inbox.current.size(), slot.capacity));
            }
        }

        Member* next{};  // in the ring of the block's threads
        ArrayCounts counts;
        NamedArrays arrays;
        Refusal refusal;
        memory::PagesAdvised prefetched;
        std::uint64_t passed{};                     // arrays handed to another thread
        alignas(64) std::atomic<bool> full{false};  // `inbox` holds what the thread before has passed on
        Handles inbox;
    };

    // False: refused, here or in another thread.
    bool run_body(Member& member, const Body& body)
    {
        for (std::uint32_t at = body.begin; at < body.end; at += region_.instructions[at].length) {
            if (!operate(member, region_.instructions[at])) {
                return false;
            }
        }
        return true;
    }

    // The operations that are quicker than finding them among all come first.
    bool operate(Member& member, const Instruction& instruction)
    {
        if (const auto* const alloc = std::get_if<Alloc>(&instruction.operands)) {
            return execute(member, *alloc);
        }
        if (const auto* const drop = std::get_if<model::Drop<SlotIndex>>(&instruction.operands)) {
            return execute(member, *drop);
        }
        return operate_other(member, instruction);
    }

    [[gnu::noinline]] bool operate_other(Member& member, const Instruction& instruction)
    {
        return std::visit([&](const auto& operands) { return execute(member, operands); }, instruction.operands);
    }

    // Arrays of a thread are made, used and dropped as those of the program.
    template <typename Operands>
        requires requires(NamedArrays& arrays, const Operands& operands) { arrays.execute(operands); }
    static bool execute(Member& member, const Operands& operands)
    {
        if constexpr (std::is_void_v<decltype(member.arrays.execute(operands))>) {
            member.arrays.execute(operands);
            return true;
        } else {
            const Refusal refusal = member.arrays.execute(operands);
            const bool done = refusal.status == memory::AllocStatus::ok;
            if (!done) {
                member.refusal = refusal;
            }
            return done;
        }
    }

    static bool execute(Member& member, const model::Prefetch<SlotIndex>& prefetch)
    {
        for (const array::Array& one : member.arrays[prefetch.target].meant()) {
            member.prefetched += memory::prefetch(one.data(), one.bytes(), prefetch.how);
        }
        return true;
    }

    // Given before taken: the first inboxes are empty, and each thread empties its own before it waits for the next's.
    bool execute(Member& member, const model::Pass<SlotIndex>& pass)
    {
        Member& next = *member.next;
        Handles& mine = member.arrays[pass.target];
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
        member.passed += &next == &member ? 0 : mine.in_use;
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
    const sys::Clock& clock_;
    std::deque<Member> members_;              // which stay where they are
    std::optional<sys::PinnedThreads> pool_;  // none: no block, or threads cannot be had
    std::atomic<bool> aborted_{false};
};

ThreadPool::ThreadPool(const RunRegion& region, CaseMemory& memory, Environment environment)
    : threads_{std::make_unique<Threads>(region, memory, environment)}
{
}

ThreadPool::~ThreadPool() = default;

Refusal ThreadPool::run(const Parallel& block, StepRecord& record)
{
    return threads_->run(block, record);
}

}  // namespace memsweep::engine
