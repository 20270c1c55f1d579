// A case compiled to plain instructions: what a worker process receives as bytes, and what the interpreter walks.
//
// Every name is resolved to an index and every size is computed before the run, so that between two clock reads the
// interpreter does nothing but the operation.
// Units    bytes, elements, nanoseconds as named.
// Errors   invalid_input: more names, samples or instructions than the result storage can hold; as PackedTraces;
//          safety and pools that the memory cannot take.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expected.hpp"
#include "core/engine/packed_traces.hpp"
#include "core/model/plan.hpp"

namespace memsweep::engine {

enum class OpCode : std::uint8_t {
    alloc,
    write,
    read,
    binary,
    concat,
    view,
    free,
    release,
    drop,
    collect,
    drain,
    trim,
    prefetch,
    migrate,
    stream,
    share,
    transfer,
    sample,
    idle,
    repeat,
    scope,
    parallel,
    pass,
    leave_by_exception,
    replay,
    purge,
};

inline constexpr std::size_t max_dimensions = 8;
inline constexpr std::uint16_t no_phase = 0xFFFF;
inline constexpr std::uint16_t no_slot = 0xFFFF;
inline constexpr std::uint32_t max_points = 100'000;  // samples of one repetition
inline constexpr std::size_t max_transfers_at_once = model::most_transfers_at_once;
inline constexpr std::size_t max_transfer_steps = 64;
inline constexpr std::uint32_t max_timed_calls = 1'000'000;  // of one repetition

struct Instruction {
    OpCode op{};
    bool timed{};
    model::DType dtype{};
    model::Fill fill{};
    model::Touch touch{};
    model::BinaryFunction function{};
    model::TrimHow how{};
    model::ReplayTouch replay_touch{};
    bool latency{};  // replay: every call is timed by itself
    model::PrefetchHow prefetch{};
    std::uint8_t dimensions{};
    std::uint16_t slot{};           // the arrays made, accessed, freed or dropped
    std::uint16_t left{}, right{};  // operands of binary; left: what a view is of
    std::uint16_t concat_case{};    // index in model::concat_cases()
    std::uint16_t out{no_slot};     // concat: the array that results are written to, where it has a name
    std::uint16_t name{};           // of a sample
    std::uint16_t replay{};         // index in Program::replays
    std::uint16_t transfer{};       // index in Program::transfers
    std::uint16_t phase{no_phase};
    std::uint32_t length{};  // repeat, scope, parallel: how many of the following instructions are its body
    std::uint64_t warmup{};  // concat: calls that are not timed
    std::uint64_t count{};   // alloc: arrays; repeat: times; idle: nanoseconds; write: overrun; exception: every Nth;
                             // sample: 1 for counters only; concat: timed calls; view: 1 for a copy; migrate: node;
                             // share: rounds; parallel: threads;
                             // transfer: turns
    std::array<std::uint64_t, max_dimensions> shape{};  // view: rows; stream: bytes of a chunk, chunks ahead, 1 to drop
                                                        // behind, 1 to write; share: bytes
};

// The transfers of one step, as a worker receives them.
struct TransferPlan {
    std::array<model::TransferJob, max_transfers_at_once> jobs{};
    std::uint64_t count{};
    model::TransferOptions options;
};

struct Slot {
    std::uint64_t capacity{};  // the most arrays it ever holds
};

struct Program {
    std::vector<Instruction> instructions;
    std::vector<Slot> slots;
    std::vector<std::string> slot_names;
    std::vector<std::string> phase_names;
    std::vector<std::string> sample_names;
    std::uint32_t points{};       // samples of one repetition
    std::uint32_t timed_calls{};  // of one repetition
    bool marked{};                // some step is marked as timed: wall_time covers only such steps
    std::uint64_t arrays{};       // allocated over one repetition
    // Of a case in a device's own memory, which only a worker can judge: what it will hold, and what the host can
    // spare.
    std::uint64_t estimate_bytes{}, memory_budget_bytes{};  // 0: no bound
    std::uint32_t required_devices{};                       // gpu0 and so on; 0: none
    std::uint64_t reserved_blocks{};                        // control blocks to make before the baseline
    std::vector<PackedTrace> replays;
    std::vector<TransferPlan> transfers;
    bool times_calls{};  // some replay times every call by itself
    model::MemorySpec memory;
    model::ReleaseSpec release;
    model::AllocatorSpec allocator;  // of the worker that runs it
};

// Traces are compiled once for all programs of `traces`.
[[nodiscard]] base::Expected<Program> compile(const model::Case& plan_case, PackedTraces& traces);
[[nodiscard]] base::Expected<Program> compile(const model::Case& plan_case);

}  // namespace memsweep::engine
