// The memory that the driver and a worker share for one repetition: the program going in, the measurements coming out.
//
// The worker writes results where the driver can read them at any time. So a crash loses nothing that was measured
// before it, and the measured part makes no system call for its results.
//
// Units    nanoseconds of CLOCK_MONOTONIC, bytes, counts.
// Threads  the worker's interpreter writes the record; the driver reads `state`, `started_ns` and the gauges while it
//          runs, and everything else only after `finished` or the worker's end.
// Errors   invalid_input from parse: a region that this build did not write.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "core/array/streaming.hpp"
#include "core/base/expected.hpp"
#include "core/engine/repetition/executor.hpp"
#include "core/engine/repetition/step_record.hpp"
#include "core/memory/counters.hpp"
#include "core/sys/interprocess.hpp"
#include "core/trace/replay/call_times.hpp"

namespace memsweep::engine {

// The place where the driver keeps a compiled trace.
struct ReplayPlace {
    std::int32_t pid{};
    std::int32_t fd{};
};

enum class RunState : std::uint32_t {
    waiting,
    running,
    counting,  // the steps are done; from here on the worker does work of its own
    finished,
    refused,  // the memory resource refused an allocation
    unmet,    // the machine lacks what a step needs, or a driver refused memory
    starved,  // the system refused the worker something of its own
    transfer_failed,
    harness_failed,
    too_many_memories,  // different ones, in one process
};

// The place of the records of one kind behind the header.
struct Section {
    std::uint64_t offset{};
    std::uint64_t count{};
};

// Written by the driver, read by the worker.
struct RunOrder {
    std::uint64_t magic{};
    std::uint64_t size_bytes{};
    ProgramTerms terms;
    bool measure_fault_cost{};
    bool drain_first{};
    array::StreamingSizes streaming;
    Section instructions, slots, slot_records, phases, points, call_times, replays, transfers;
    Section allocator;    // AllocatorRecord: 1 when the case names an allocator
    Section call_counts;  // CallTimeCounts: 1 when some replay times its calls
};

struct RunHeader {
    RunOrder order;
    std::atomic<RunState> state{RunState::waiting};
    std::atomic<std::int64_t> started_ns{0};
    std::atomic<std::uint64_t> own_bytes{0};  // as in the record; a replay's series leaves them out
    std::atomic<std::uint32_t> points{0};     // records published
    std::atomic<std::uint32_t> counters{0};   // index of this repetition's Counters in the worker's Gauges
    StepRecord record;
};

// Typed views of a mapped region.
struct RunRegion {
    RunHeader* header{};
    std::span<Instruction> instructions;
    std::span<ArraySlot> slots;
    std::span<SlotRecord> slot_records;
    std::span<PhaseRecord> phases;
    std::span<PointRecord> points;
    std::span<std::int64_t> call_times_ns;
    std::span<AllocatorRecord> allocator;
    std::span<ReplayPlace> replays;
    std::span<trace::CallTimeCounts> call_counts;
    std::span<TransferPlan> transfers;

    [[nodiscard]] std::span<const Instruction> body(const Body& of) const
    {
        return std::span<const Instruction>{instructions}.subspan(of.begin, of.end - of.begin);
    }
};

[[nodiscard]] base::Expected<sys::SharedRegion> make_run_region(const CompiledCase& compiled, const RunLimits& limits);
[[nodiscard]] base::Expected<RunRegion> parse_run_region(const sys::SharedRegion& region);

// The counters a worker keeps for all its life, one set per CaseMemory.
inline constexpr std::size_t max_case_memories = 64;
struct Gauges {
    std::array<memory::Counters, max_case_memories> counters;
};

}  // namespace memsweep::engine
