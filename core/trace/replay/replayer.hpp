// Replays a compiled trace. Each recorded thread has a thread of its own, which starts and ends as the recorded one
// did. The threads keep the order of the recorded steps (replay_program.hpp), and that of blocks that one thread hands
// to another.
//
// A waiting thread spins for some two microseconds, yields its processor for some thirty, and then sleeps on a futex
// for short whiles. So there may be more threads than processors, and handing over a block needs no fence.
//
// Units    bytes, nanoseconds of CLOCK_MONOTONIC.
// No time includes waiting for another thread, for a thread's start or end, or for the time of an event.
//
// Cost     beyond the allocator, 1.5 to 4 ns an event of a single thread, and 6 to 12 if threads exchange blocks.
// Memory   a slot per block that is live at once; the pages are there after prepare(). A replay allocates only what the
//          trace does, and what its threads need.
// Errors   refused: the backend gave no memory. Then every thread stops, and live blocks stay live.
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
    unreachable,  // the memory cannot be touched: nothing is zeroed, and resized or copied blocks lose their contents
};

struct ReplayRun {
    std::int64_t thread_ns{};  // from a thread's first event to its last, less its waits; the sum over all threads
    std::uint64_t events{};
    std::uint64_t transferred_bytes{};
    std::uint64_t waits{};  // waits for another thread that were not over at the first look
    bool refused{};
    std::uint64_t refused_bytes{};
};

// What is done beside a replay.
struct ReplayWatch {
    CallTimeCounts* times{};       // times every call by itself, which takes longer
    std::function<void()> at_end;  // called by the first thread at the last event, when all others wait or have ended
};

struct ReplayPlaces;

class Replayer {
  public:
    // The words of the program must outlive the replayer.
    explicit Replayer(const ReplayProgram& program);
    Replayer(const Replayer&) = delete;
    Replayer& operator=(const Replayer&) = delete;
    ~Replayer();

    [[nodiscard]] const ReplayTotals& totals() const noexcept { return program_.header->totals; }

    // Touches the memory that the replay itself needs, and that for handles if asked. Returns what dispatching costs: a
    // run of the same events on no memory, as fast as they go.
    ReplayRun prepare(bool with_handles = false);
    // The bytes that prepare() has made resident.
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
