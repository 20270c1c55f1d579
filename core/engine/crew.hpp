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
#include "core/engine/handles.hpp"
#include "core/engine/run_region.hpp"
#include "core/engine/world.hpp"
#include "core/transfer/gang.hpp"

namespace memsweep::engine {

class Crew {
  public:
    // As many threads as the largest parallel block of the program has.
    Crew(const RunRegion& region, World& world, Environment environment);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    // Sums over the threads.
    struct Done {
        std::uint64_t arrays{};
        std::uint64_t pages_touched{};
        std::uint64_t passed{};  // arrays handed to another thread
        std::uint64_t reads{};
        std::uint64_t prefetched_bytes{};
        std::uint64_t prefetches_refused{};
        memory::AllocStatus status{memory::AllocStatus::ok};
        std::uint64_t refused_bytes{};
    };

    // `checksum` is chained with what the threads have read, in their order.
    [[nodiscard]] Done run(const Instruction& block, std::span<const Instruction> body, std::uint64_t& checksum);

  private:
    // One thread's; what its neighbour writes lies on a line of its own.
    struct Member {
        std::vector<Handles> handles;
        Done done;
        std::uint64_t checksum{};
        alignas(64) std::atomic<bool> full{false};  // `inbox` holds what the thread before has passed on
        Handles inbox;
    };

    bool run_body(std::size_t number, std::size_t threads, std::span<const Instruction> body);
    bool execute(std::size_t number, std::size_t threads, const Instruction& one, std::span<const Instruction> inner);
    bool allocate(Member& member, const Instruction& one);
    bool pass(std::size_t number, std::size_t threads, const Instruction& one);
    [[nodiscard]] bool wait_until(const std::atomic<bool>& full, bool value) const;

    World& world_;
    const sys::Clock& clock_;
    std::uint64_t page_bytes_;
    std::vector<Member> members_;
    std::optional<transfer::Gang> gang_;  // none: no block, or threads cannot be had
    std::atomic<bool> aborted_{false};
};

}  // namespace memsweep::engine
