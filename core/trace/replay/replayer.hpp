// Replays a compiled trace: each of its threads in a thread of its own, which is started and ends as the recorded one
// did, in the order of the recorded steps (replay_program.hpp) and of the blocks that go from one to another.
//
// A wait spins for some two microseconds, yields its processor for some thirty, and then sleeps on a futex for short
// whiles, so that more threads than processors get along, and giving needs no fence.
//
// Units    bytes, nanoseconds of CLOCK_MONOTONIC.
// Waiting for another thread, for a thread's start or end, or for the time of an event is no part of any time.
//
// Cost     1.5 to 4 ns an event of a single thread beyond the allocator, 6 to 12 where threads exchange blocks.
// Memory   a slot per block that is live at once; its pages are there after prepare(). A replay allocates nothing but
//          what the trace does, and what its threads need.
// Errors   refused: the backend gave no memory; every thread stops, and what is live then stays so.
// Threads  one uses a replayer; a single-threaded program runs on that thread itself.
#pragma once

#include <functional>
#include <memory>

#include "core/lifetime/heap.hpp"
#include "core/memory/resource.hpp"
#include "core/trace/replay/call_times.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::trace {

enum class ReplayTouch : std::uint8_t {
    none,
    first_byte,  // the first byte of the block and of each further page
    all,
    unreachable,  // the memory cannot be touched: nothing is zeroed either, and what is resized or copied loses its
                  // contents
};

struct ReplayRun {
    std::int64_t thread_ns{};  // from a thread's first event to its last, less what it waited, of all threads together
    std::uint64_t events{};
    std::uint64_t transferred_bytes{};
    std::uint64_t waits{};  // for another thread, that were not over at the first look
    bool refused{};
    std::uint64_t refused_bytes{};
};

// What is done beside a replay.
struct ReplayWatch {
    CallTimeCounts* times{};       // every call is timed by itself, which takes longer
    std::function<void()> at_end;  // by the first thread at the last event, when all others wait or have ended
};

struct ReplayPlaces;

class Replayer {
  public:
    // The words must stay for as long as the replayer.
    explicit Replayer(const ReplayProgram& program);
    Replayer(const Replayer&) = delete;
    Replayer& operator=(const Replayer&) = delete;
    ~Replayer();

    [[nodiscard]] const ReplayTotals& totals() const noexcept { return program_.header->totals; }

    // Faults in what the replay itself needs, also on a heap of handles, and says what its dispatch costs: the same
    // events on no memory at all, as fast as they go.
    ReplayRun prepare(bool with_handles = false);
    // What that has made resident.
    [[nodiscard]] std::uint64_t own_bytes() const noexcept;

    ReplayRun on_nothing(const ReplayWatch& watch = {});
    ReplayRun on_malloc(ReplayTouch touch, const ReplayWatch& watch = {});
    ReplayRun on(memory::MemoryResource& resource, ReplayTouch touch, const ReplayWatch& watch = {});
    ReplayRun on(lifetime::Heap& heap, bool frees_manually, ReplayTouch touch, const ReplayWatch& watch = {});

  private:
    template <typename Backend>
    ReplayRun run(const Backend& backend, ReplayTouch touch, const ReplayWatch& watch, bool paced = true);

    ReplayProgram program_;
    std::unique_ptr<ReplayPlaces> places_;
};

}  // namespace memsweep::trace
