// Replays a compiled trace. Each recorded thread has a thread of its own, which starts and ends as the recorded one
// did. The threads keep the order of the steps (replay_program.hpp), and the order in which threads hand blocks to each
// other.
//
// A waiting thread spins for some two microseconds, yields its processor for some thirty microseconds, and then sleeps
// on a futex for short times. So there may be more threads than processors, and handing over a block needs no fence.
//
// Units    bytes, nanoseconds of CLOCK_MONOTONIC. Times do not include waits: for another thread, for a thread's start
//          or end, or for the recorded time of an event.
//
// Cost     besides the allocator's time, 1.5 to 4 ns an event with one thread, and 6 to 12 ns if threads exchange
//          blocks.
// Memory   a slot for each block that is live at the same time. After prepare(), the pages of the slots are resident. A
//          replay allocates only what the trace allocates and what its threads need.
// Errors   refused: the backend gave no memory. Every thread then stops, and live blocks stay live.
// Threads  one thread uses a replayer. A program with one thread runs on the thread that uses the replayer.
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
    std::int64_t thread_ns{};  // sum over all threads of the time from the first event to the last, without waits
    std::uint64_t events{};
    std::uint64_t transferred_bytes{};
    std::uint64_t waits{};  // waits for another thread that were not over at the first check
    bool refused{};
    std::uint64_t refused_bytes{};
};

// Observers of a replay; both are optional.
struct ReplayWatch {
    CallTimeCounts* times{};       // counts the time of every call, which slows the replay down
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

    // Touches the memory that the replay itself needs; `with_handles`: also the memory of handles. Returns the cost of
    // dispatching: the result of a run of the same events without memory or pacing.
    ReplayRun prepare(bool with_handles = false);
    // Returns how many bytes prepare() has made resident.
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
