// Steps compiled to plain instructions. A worker process receives them as bytes, and the interpreter walks them.
//
// Before the run every name is resolved to an index and every size is computed. So, between two clock reads, the
// interpreter does nothing but the operation.
// Units    bytes and elements; nanoseconds in names that end in _ns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/array/array.hpp"
#include "core/model/plan.hpp"
#include "core/sys/interprocess.hpp"

namespace memsweep::engine {

using SlotIndex = std::uint16_t;  // index of a name's ArraySlot in StepProgram::slots

inline constexpr std::uint16_t no_phase = 0xFFFF;
inline constexpr SlotIndex no_slot = 0xFFFF;
inline constexpr std::uint32_t max_points = 100'000;         // samples of one repetition
inline constexpr std::uint32_t max_timed_calls = 1'000'000;  // in one repetition

// Operands of the steps whose compiled form differs from the step. Every other step is its own operand, with slot
// indices instead of names; a slot holds the arrays of one name.
struct Alloc {
    SlotIndex as{};
    std::uint8_t dimensions{};
    std::uint64_t count{};
    array::ArraySpec each;
    std::array<std::uint64_t, array::max_dimensions> lengths{};

    [[nodiscard]] std::span<const std::uint64_t> shape() const { return {lengths.data(), dimensions}; }
};

struct Concat {
    std::uint16_t concat_case{};  // index in model::concat_cases()
    SlotIndex inputs{};
    SlotIndex out{no_slot};  // the array that results are written to; no_slot: the results have no name
    std::uint64_t warmup{};  // calls that are not timed
    std::uint64_t calls{};
};

struct Transfer {
    std::uint16_t plan{};  // index in StepProgram::transfers
    std::uint64_t turns{};
};

struct Sample {
    std::uint16_t name{};  // index in StepProgram::sample_names
    bool counters_only{};
};

struct Replay {
    std::uint16_t trace{};  // index in StepProgram::replays
    model::ReplayTouch touch{};
    bool latency{};            // each call is timed individually
    std::int64_t settle_ns{};  // idle time after the last event
    bool gives_back{};         // ask the allocator to return memory before the remaining blocks are freed
};

// The instructions inside a block of steps: those with the indices `begin` to `end` - 1.
struct Body {
    std::uint32_t begin{};
    std::uint32_t end{};
};

struct Repeat {
    std::uint64_t times{};
    Body body;
};

struct Scope {
    Body body;
};

struct Parallel {
    std::uint64_t threads{};
    Body body;
};

struct Throw {
    std::uint64_t every{};
    std::uint32_t number{};  // of this throw among the program's throws, from 0
};

// The compiled form of a step: one of the operands above, or the step itself, with slot indices instead of names.
Alloc compiled_as(const model::AllocStep&);
Concat compiled_as(const model::ConcatStep&);
Transfer compiled_as(const model::TransferStep&);
Sample compiled_as(const model::SampleStep&);
Replay compiled_as(const model::ReplayStep&);
Repeat compiled_as(const model::RepeatStep&);
Scope compiled_as(const model::ScopeStep&);
Parallel compiled_as(const model::ParallelStep&);
Throw compiled_as(const model::ThrowStep&);
template <template <typename> class Operation>
Operation<SlotIndex> compiled_as(const Operation<std::string>&);
template <typename Step>
Step compiled_as(const Step&);

template <typename Step>
using Compiled = decltype(compiled_as(std::declval<const Step&>()));

template <typename Operation>
struct OperandsOf;
template <typename... Steps>
struct OperandsOf<std::variant<Steps...>> {
    using Type = std::variant<Compiled<Steps>...>;
};
using Operands = OperandsOf<model::Operation>::Type;

// The size of an instruction is a power of two, so a shift turns its index into its address.
struct alignas(64) Instruction {
    Operands operands;
    bool timed{};
    bool watched{};  // work for a timed step, a phase or a trim policy is due before or after it
    std::uint16_t phase{no_phase};
    std::uint32_t length{1};  // this instruction and those of its body
};
static_assert(std::is_trivially_copyable_v<Instruction>, "a worker receives instructions as bytes");

// Whether the instruction is a compiled step of this type.
template <typename Step>
[[nodiscard]] bool is(const Instruction& instruction)
{
    return std::holds_alternative<Compiled<Step>>(instruction.operands);
}

// The name that the instruction binds new arrays to; no_slot: it binds none.
[[nodiscard]] inline SlotIndex bound_slot(const Instruction& instruction)
{
    return std::visit(
        [](const auto& operands) {
            if constexpr (requires { operands.as; }) {
                return operands.as;
            } else {
                return no_slot;
            }
        },
        instruction.operands);
}

// The transfers of one step, as a worker receives them.
struct TransferPlan {
    std::array<model::TransferJob, model::max_transfers_at_once> jobs{};
    std::uint64_t count{};
    model::TransferOptions options;
};

struct ArraySlot {
    std::uint64_t capacity{};  // the most arrays that the name holds
};

// A trace compiled for replay, in memory that workers can map. Cases that replay the same trace share it.
using PackedTrace = std::shared_ptr<const sys::SharedRegion>;

// What a program needs besides its instructions, as plain values.
struct ProgramTerms {
    model::MemorySpec memory;
    model::ReleaseSpec release;
    std::uint64_t reserved_blocks{};  // control blocks to make before the first step
    // Only for a case in a device's memory: the most bytes that it will hold, and the limit (--max-memory) that applies
    // if the device shares the host's memory. Only the worker can tell whether the device shares it.
    std::uint64_t estimate_bytes{}, memory_budget_bytes{};  // 0: no limit
    std::uint32_t required_devices{};                       // how many devices the scenario requires, from gpu0 on
    bool marked{};  // some step is marked as timed, so wall_time covers only marked steps
};

struct StepProgram : ProgramTerms {
    std::vector<Instruction> instructions;
    std::vector<ArraySlot> slots;
    std::vector<std::string> slot_names;
    std::vector<std::string> phase_names;
    std::vector<std::string> sample_names;
    std::uint32_t points{};       // samples of one repetition
    std::uint32_t timed_calls{};  // in one repetition
    std::uint64_t arrays{};       // allocated over one repetition
    std::vector<PackedTrace> replays;
    std::vector<TransferPlan> transfers;
    bool times_calls{};  // some replay times each call individually
};

}  // namespace memsweep::engine
