// The threads of parallel blocks: each runs the same steps at once, with arrays of its own, and may pass arrays on to
// the next, which then frees what another thread has allocated.
//
// Cost     the threads are started, and pinned one per processor in turn, before the baseline; a block costs a wake-up.
//          Passing on spins for the neighbour, and yields.
// Errors   AllocStatus in Done: the first refusal ends the block in every thread.
// Threads  run belongs to the interpreter's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/environment.hpp"
#include "core/engine/named_arrays.hpp"
#include "core/engine/run_region.hpp"
#include "core/memory/paging.hpp"
#include "core/sys/pinned_threads.hpp"

namespace memsweep::engine {

class ThreadPool {
  public:
    // As many threads as the largest parallel block of the program has.
    ThreadPool(const RunRegion& region, CaseMemory& memory, Environment environment);
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;
    ~ThreadPool();

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
    [[nodiscard]] Done run(const Parallel& block, std::uint64_t& checksum);

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
    bool run_body(Member& member, const Body& body);
    bool execute(Member& member, const Alloc& alloc);
    bool execute(Member& member, const model::Write<SlotIndex>& write);
    static bool execute(Member& member, const model::Read<SlotIndex>& read);
    static bool execute(Member& member, const model::Prefetch<SlotIndex>& prefetch);
    static bool execute(Member& member, const model::Drop<SlotIndex>& drop);
    bool execute(Member& member, const model::Pass<SlotIndex>& pass);
    bool execute(Member& member, const model::IdleStep& idle);
    bool execute(Member& member, const Repeat& repeat);
    template <typename Other>
    static bool execute(Member& member, const Other& other);
    [[nodiscard]] bool wait_until(const std::atomic<bool>& full, bool value) const;

    const RunRegion& region_;
    CaseMemory& memory_;
    const sys::Clock& clock_;
    std::uint64_t page_bytes_;
    std::vector<Member> members_;
    std::optional<sys::PinnedThreads> pool_;  // none: no block, or threads cannot be had
    std::atomic<bool> aborted_{false};
};

}  // namespace memsweep::engine
