#include "core/engine/program.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/base/checked.hpp"
#include "core/model/concat_case.hpp"
#include "core/model/driver_memory.hpp"

namespace memsweep::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Control blocks beyond this are made on demand: reserving them all would cost more memory than a case's arrays.
constexpr std::uint64_t most_reserved_blocks = 1'000'000;
constexpr std::size_t most_names = 60'000;
constexpr std::size_t most_instructions = 1'000'000;

class Compiler {
  public:
    Compiler(Program& program, PackedTraces& traces) : program_{program}, traces_{traces} {}

    // What the first trace that could not be compiled said.
    [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

    void steps(const std::vector<model::Step>& steps, bool top_level)
    {
        for (const model::Step& step : steps) {
            const std::size_t at = program_.instructions.size();
            program_.instructions.emplace_back();
            const Instruction made =
                std::visit([&](const auto& operation) { return instruction(operation, at); }, step.operation);
            Instruction& placed = program_.instructions[at];
            placed = made;
            placed.timed = step.timed;
            placed.phase = phase_of(step, top_level);
            program_.marked = program_.marked || step.timed;
        }
    }

  private:
    std::uint16_t phase_of(const model::Step& step, bool top_level)
    {
        if (!step.phase.empty()) {
            return index_of(program_.phase_names, step.phase);
        }
        const bool own_phase = top_level && !std::holds_alternative<model::SampleStep>(step.operation);
        return own_phase ? index_of(program_.phase_names, std::string{model::operation_name(step.operation)})
                         : no_phase;
    }

    Instruction instruction(const model::AllocStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::alloc, .dtype = step.dtype, .fill = step.fill, .touch = step.touch};
        made.slot = slot(step.as, step.count);
        made.count = step.count;
        made.dimensions = static_cast<std::uint8_t>(std::min(step.shape.size(), max_dimensions));
        std::copy_n(step.shape.begin(), made.dimensions, made.shape.begin());
        return made;
    }

    Instruction instruction(const model::WriteStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::write, .touch = step.touch, .slot = slot(step.target, 0), .count = step.overrun_bytes};
    }

    Instruction instruction(const model::ReadStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::read, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::FreeStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::free, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::ReleaseStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::release, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::BinaryStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::binary, .function = step.function};
        made.left = slot(step.left, 0);
        made.right = slot(step.right, 0);
        made.slot = slot(step.as, 0);
        return made;
    }

    // Its arrays are the label's, where a report must name them.
    Instruction instruction(const model::ConcatStep& step, std::size_t /*at*/)
    {
        const model::ConcatCase& what = *step.what;
        Instruction made{.op = OpCode::concat, .warmup = step.warmup, .count = step.calls};
        made.concat_case = static_cast<std::uint16_t>(&what - model::concat_cases().data());
        made.slot = slot(std::string{what.label}, what.count + 2);
        if (what.out && !step.out.empty()) {
            made.out = slot(step.out, 1);
        }
        return made;
    }

    Instruction instruction(const model::ViewStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::view, .count = step.copy ? 1U : 0U};
        made.left = slot(step.of, 0);
        made.slot = slot(step.as, 0);
        made.shape[0] = step.start;
        made.shape[1] = step.stop;
        return made;
    }

    Instruction instruction(const model::DropStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::drop, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::CollectStep& /*step*/, std::size_t /*at*/) { return {.op = OpCode::collect}; }
    Instruction instruction(const model::DrainStep& /*step*/, std::size_t /*at*/) { return {.op = OpCode::drain}; }

    Instruction instruction(const model::TrimStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::trim, .how = step.how, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::PrefetchStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::prefetch, .prefetch = step.how, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::MigrateStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::migrate, .slot = slot(step.target, 0), .count = step.node};
    }

    Instruction instruction(const model::StreamStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::stream, .slot = slot(step.target, 0)};
        made.shape = {step.chunk_bytes, step.ahead, step.drop_behind ? 1U : 0U, step.write ? 1U : 0U};
        return made;
    }

    Instruction instruction(const model::ShareStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::share, .count = step.rounds, .shape = {step.bytes}};
    }

    Instruction instruction(const model::TransferStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::transfer, .count = step.options.times};
        made.transfer = static_cast<std::uint16_t>(program_.transfers.size());
        TransferPlan& plan = program_.transfers.emplace_back();
        plan.count = std::min(step.jobs.size(), max_transfers_at_once);
        std::copy_n(step.jobs.begin(), plan.count, plan.jobs.begin());
        plan.options = step.options;
        if (step.jobs.size() > max_transfers_at_once || program_.transfers.size() > max_transfer_steps) {
            error_ = base::Error{ErrorCode::invalid_input,
                                 fmt::format("more than {} transfers in a step, or {} such steps in a case",
                                             max_transfers_at_once, max_transfer_steps),
                                 {}};
        }
        return made;
    }

    Instruction instruction(const model::SampleStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::sample,
                .name = index_of(program_.sample_names, step.name),
                .count = step.counters_only ? 1U : 0U};
    }

    Instruction instruction(const model::IdleStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::idle, .count = static_cast<std::uint64_t>(step.duration.count())};
    }

    Instruction instruction(const model::ReplayStep& step, std::size_t /*at*/)
    {
        Instruction made{.op = OpCode::replay, .replay_touch = step.touch, .latency = step.latency};
        program_.times_calls = program_.times_calls || step.latency;
        auto packed = traces_.find_or_compile(step);
        if (!packed) {
            error_ = error_ ? error_ : packed.error();
            return made;
        }
        const auto found = std::ranges::find(program_.replays, *packed);
        made.replay = static_cast<std::uint16_t>(found - program_.replays.begin());
        if (found == program_.replays.end()) {
            program_.replays.push_back(*std::move(packed));
        }
        return made;
    }

    Instruction instruction(const model::PurgeStep& /*step*/, std::size_t /*at*/) { return {.op = OpCode::purge}; }

    Instruction instruction(const model::RepeatStep& step, std::size_t at)
    {
        steps(step.steps, false);
        return {.op = OpCode::repeat,
                .length = static_cast<std::uint32_t>(program_.instructions.size() - at - 1),
                .count = step.times};
    }

    Instruction instruction(const model::ScopeStep& step, std::size_t at)
    {
        steps(step.steps, false);
        return {.op = OpCode::scope, .length = static_cast<std::uint32_t>(program_.instructions.size() - at - 1)};
    }

    Instruction instruction(const model::ParallelStep& step, std::size_t at)
    {
        steps(step.steps, false);
        return {.op = OpCode::parallel,
                .length = static_cast<std::uint32_t>(program_.instructions.size() - at - 1),
                .count = step.threads};
    }

    Instruction instruction(const model::PassStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::pass, .slot = slot(step.target, 0)};
    }

    Instruction instruction(const model::ThrowStep& step, std::size_t /*at*/)
    {
        return {.op = OpCode::leave_by_exception, .count = step.every};
    }

    std::uint16_t slot(const std::string& name, std::uint64_t count)
    {
        const std::uint16_t index = index_of(program_.slot_names, name);
        program_.slots.resize(program_.slot_names.size());
        program_.slots[index].capacity = std::max(program_.slots[index].capacity, count);
        return index;
    }

    // Indices past the last representable one are caught by compile(), which counts the names.
    static std::uint16_t index_of(std::vector<std::string>& names, const std::string& name)
    {
        const auto found = std::ranges::find(names, name);
        if (found == names.end()) {
            names.push_back(name);
            return static_cast<std::uint16_t>(names.size() - 1);
        }
        return static_cast<std::uint16_t>(found - names.begin());
    }

    Program& program_;
    PackedTraces& traces_;
    std::optional<base::Error> error_;
};

// A result holds as many arrays as its left operand; chains of results settle after at most one pass per slot.
void settle_capacities(Program& program)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (const Instruction& instruction : program.instructions) {
            const bool follows = instruction.op == OpCode::binary || instruction.op == OpCode::view;
            if (follows && program.slots[instruction.slot].capacity < program.slots[instruction.left].capacity) {
                program.slots[instruction.slot].capacity = program.slots[instruction.left].capacity;
                changed = true;
            }
        }
    }
}

// With reference counts a name's old and new arrays live at once; other modes may delay every array's release.
std::uint64_t blocks_to_reserve(const Program& program)
{
    std::uint64_t reachable = 0;
    for (const Slot& slot : program.slots) {
        reachable = base::saturating_add(reachable, base::saturating_mul(2, slot.capacity));
    }
    for (const Instruction& one : program.instructions) {
        reachable = one.op == OpCode::parallel ? base::saturating_mul(reachable, one.count + 1) : reachable;
    }
    const bool prompt = program.release.mode == model::ReleaseMode::refcount && !model::is_collected(program.release);
    return std::min({prompt ? reachable : program.arrays, program.arrays, most_reserved_blocks});
}

}  // namespace

base::Expected<Program> compile(const model::Case& plan_case)
{
    PackedTraces traces;
    return compile(plan_case, traces);
}

base::Expected<Program> compile(const model::Case& plan_case, PackedTraces& traces)
{
    Program program;
    program.memory = plan_case.memory;
    program.release = plan_case.release;
    program.allocator = plan_case.allocator;
    if (std::string why = model::driver_objection(plan_case.memory, plan_case.release.safety); !why.empty()) {
        return fail(ErrorCode::invalid_input, std::move(why), plan_case.id);
    }
    Compiler compiler{program, traces};
    compiler.steps(plan_case.steps, true);
    if (compiler.error()) {
        return fail(*compiler.error());
    }
    const std::uint64_t points = model::sample_count(plan_case.steps);
    if (points > max_points) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("a repetition would take {} samples; at most {} are kept: sample outside the loop",
                                points, max_points),
                    plan_case.id);
    }
    const std::uint64_t timed_calls = model::timed_call_count(plan_case.steps);
    if (timed_calls > max_timed_calls) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("a repetition would time {} calls; at most {} are kept", timed_calls, max_timed_calls),
                    plan_case.id);
    }
    if (program.instructions.size() > most_instructions || program.slot_names.size() > most_names ||
        program.phase_names.size() > most_names || program.sample_names.size() > most_names) {
        return fail(ErrorCode::invalid_input,
                    fmt::format("a case can have at most {} steps and {} names", most_instructions, most_names),
                    plan_case.id);
    }
    settle_capacities(program);
    program.points = static_cast<std::uint32_t>(points);
    program.timed_calls = static_cast<std::uint32_t>(timed_calls);
    program.arrays = model::allocation_count(plan_case.steps);
    program.reserved_blocks = blocks_to_reserve(program);
    return program;
}

}  // namespace memsweep::engine
