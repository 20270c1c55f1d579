// The memory that the driver (the memsweep process that runs the plan) and a worker share for one repetition. It holds
// the program, written by the driver, and the measurements, written by the worker.
//
// The driver can read the measurements at any time. So they survive a crash of the worker, and the worker writes them
// without a system call.
//
// Units    nanoseconds of CLOCK_MONOTONIC, bytes, counts.
// Threads  the worker's interpreter writes the record. While the steps run, the driver reads only the atomics of
//          RunHeader and the gauges. It reads everything else after the worker has answered (worker.hpp) or ended.
// Errors   parse_run_region() returns invalid_input if the region was written with records of other sizes, or if a
//          section does not fit into it.
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

// Says in which file the driver keeps a compiled trace: /proc/<pid>/fd/<fd>, for example /proc/1234/fd/7.
struct ReplayPlace {
    std::int32_t pid{};
    std::int32_t fd{};
};

enum class RunState : std::uint32_t {
    waiting,
    running,
    counting,  // the steps are done; the worker counts what is left and compares the data of transfers
    finished,
    refused,  // the memory resource refused an allocation
    unmet,    // the machine lacks what a step needs, or a driver refused memory
    starved,  // the system refused the worker itself a resource, such as a thread
    transfer_failed,
    harness_failed,
    too_many_memories,  // the worker already has max_case_memories different CaseMemory objects
};

// Says where the records of one kind lie in the region, after the header.
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
    Section allocator;    // AllocatorRecord: one if the case names an allocator, else none
    Section call_counts;  // CallTimeCounts: one if some replay times its calls, else none
};

struct RunHeader {
    RunOrder order;
    std::atomic<RunState> state{RunState::waiting};
    std::atomic<std::int64_t> started_ns{0};
    std::atomic<std::uint64_t> own_bytes{0};  // StepRecord::own_bytes, which the series of replays subtracts
    std::atomic<std::uint32_t> points{0};     // point records that are complete
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

// The allocation counters of a worker, one set per CaseMemory. They exist as long as the worker.
inline constexpr std::size_t max_case_memories = 64;
struct Gauges {
    std::array<memory::Counters, max_case_memories> counters;
};

}  // namespace memsweep::engine
