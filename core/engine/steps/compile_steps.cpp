#include "core/engine/steps/compile_steps.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/checked.hpp"
#include "core/engine/repetition/step_record.hpp"
#include "core/lifetime/slab.hpp"
#include "core/model/concat_case.hpp"
#include "core/model/specs.hpp"
#include "core/trace/replay/replay_program.hpp"
#include "core/trace/trace_moment.hpp"
#include "core/trace/trace_reader.hpp"

namespace memsweep::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Control blocks beyond this are made on demand: reserving them all would cost more memory than a case's arrays.
constexpr std::uint64_t max_reserved_blocks = 1'000'000;
constexpr std::size_t max_names = 60'000;
constexpr std::size_t max_instructions = 1'000'000;

class Compiler {
  public:
    Compiler(const std::string& case_id, StepProgram& program, PackedTraces& traces)
        : case_id_{case_id}, program_{program}, traces_{traces}
    {
    }

    // Why the first step that could not be compiled was refused.
    [[nodiscard]] const std::optional<base::Error>& error() const { return error_; }

    void steps(const std::vector<model::Step>& steps, bool top_level)
    {
        for (const model::Step& step : steps) {
            const std::size_t at = program_.instructions.size();
            program_.instructions.emplace_back();
            const Operands made =
                std::visit([this](const auto& operation) { return Operands{compiled(operation)}; }, step.operation);
            const std::uint16_t phase = phase_of(step, top_level);
            program_.instructions[at] = {.operands = made,
                                         .timed = step.timed,
                                         .watched = step.timed || phase != no_phase || has_limit_,
                                         .phase = phase,
                                         .length = static_cast<std::uint32_t>(program_.instructions.size() - at)};
            program_.marked = program_.marked || step.timed;
        }
    }

  private:
    void refuse(std::string why) { keep({ErrorCode::invalid_input, std::move(why), case_id_}); }
    void keep(base::Error error) { error_ = error_ ? error_ : std::move(error); }

    [[nodiscard]] std::uint32_t end_of_program() const
    {
        return static_cast<std::uint32_t>(program_.instructions.size());
    }

    std::uint16_t phase_of(const model::Step& step, bool top_level)
    {
        if (!step.phase.empty()) {
            return index_of(program_.phase_names, step.phase);
        }
        const bool own_phase = top_level && !std::holds_alternative<model::SampleStep>(step.operation);
        return own_phase ? index_of(program_.phase_names, std::string{model::operation_name(step.operation)})
                         : no_phase;
    }

    // The operations without names are their own instructions.
    template <typename Step>
        requires std::is_same_v<Compiled<Step>, Step>
    const Step& compiled(const Step& step)
    {
        return step;
    }

    template <template <typename> class Operation>
    Operation<SlotIndex> compiled(const Operation<std::string>& step)
    {
        return step.with([this](const std::string& name) { return slot(name, 0); });
    }

    Alloc compiled(const model::AllocStep& step)
    {
        Alloc made{.as = slot(step.as, step.count), .count = step.count, .each = {}};
        if (array::Layout::fits(step.shape, model::size_bytes(step.dtype))) {
            made.each = array::ArraySpec{step.dtype, step.shape, step.fill, step.touch};
            made.dimensions = static_cast<std::uint8_t>(step.shape.size());
            std::ranges::copy(step.shape, made.lengths.begin());
        } else {
            refuse(fmt::format("an array of shape [{}]: at most {} dimensions, and less than 2^63 bytes with its empty "
                               "axes counted as one",
                               fmt::join(step.shape, ", "), array::max_dimensions));
        }
        return made;
    }

    // Its arrays are the label's, where a report must name them.
    Concat compiled(const model::ConcatStep& step)
    {
        const model::ConcatCase& what = *step.what;
        Concat made{.concat_case = static_cast<std::uint16_t>(&what - model::concat_cases().data()),
                    .inputs = slot(std::string{what.label}, what.count + 2),
                    .warmup = step.warmup,
                    .calls = step.calls};
        if (what.out && !step.out.empty()) {
            made.out = slot(step.out, 1);
        }
        return made;
    }

    Transfer compiled(const model::TransferStep& step)
    {
        const Transfer made{.plan = static_cast<std::uint16_t>(program_.transfers.size()), .turns = step.options.times};
        TransferPlan& plan = program_.transfers.emplace_back();
        plan.count = std::min(step.jobs.size(), model::max_transfers_at_once);
        std::copy_n(step.jobs.begin(), plan.count, plan.jobs.begin());
        plan.options = step.options;
        if (step.jobs.size() > model::max_transfers_at_once || program_.transfers.size() > max_transfer_steps) {
            refuse(fmt::format("more than {} transfers in a step, or {} such steps in a case",
                               model::max_transfers_at_once, max_transfer_steps));
        }
        return made;
    }

    Sample compiled(const model::SampleStep& step)
    {
        return {.name = index_of(program_.sample_names, step.name), .counters_only = step.counters_only};
    }

    Replay compiled(const model::ReplayStep& step)
    {
        Replay made{.touch = step.touch, .latency = step.latency, .settle_ns = step.settle.count()};
        program_.times_calls = program_.times_calls || step.latency;
        auto packed = traces_.find_or_compile(step);
        if (!packed) {
            keep(packed.error());
            return made;
        }
        const auto found = std::ranges::find(program_.replays, *packed);
        made.trace = static_cast<std::uint16_t>(found - program_.replays.begin());
        if (found == program_.replays.end()) {
            program_.replays.push_back(*std::move(packed));
        }
        return made;
    }

    Repeat compiled(const model::RepeatStep& step) { return {.times = step.times, .body = body(step.steps)}; }
    Scope compiled(const model::ScopeStep& step) { return {.body = body(step.steps)}; }
    Parallel compiled(const model::ParallelStep& step) { return {.threads = step.threads, .body = body(step.steps)}; }
    Throw compiled(const model::ThrowStep& step) { return {.every = step.every, .number = throws_++}; }

    Body body(const std::vector<model::Step>& inner)
    {
        const std::uint32_t begin = end_of_program();
        steps(inner, false);
        return {.begin = begin, .end = end_of_program()};
    }

    SlotIndex slot(const std::string& name, std::uint64_t count)
    {
        const SlotIndex index = index_of(program_.slot_names, name);
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

    const std::string& case_id_;
    StepProgram& program_;
    const bool has_limit_{program_.memory.trim.above_bytes != 0};
    PackedTraces& traces_;
    std::optional<base::Error> error_;
    std::uint32_t throws_{};
};

// True where the capacity of `made` had to grow to that of what it is made from.
bool follow(StepProgram& program, SlotIndex made, SlotIndex from)
{
    std::uint64_t& capacity = program.slots[made].capacity;
    const std::uint64_t wanted = program.slots[from].capacity;
    return std::exchange(capacity, std::max(capacity, wanted)) < wanted;
}

// A result holds as many arrays as its left operand; chains of results settle after at most one pass per slot.
void settle_capacities(StepProgram& program)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (const Instruction& one : program.instructions) {
            if (const auto* binary = std::get_if<model::Binary<SlotIndex>>(&one.operands)) {
                changed = follow(program, binary->as, binary->left) || changed;
            } else if (const auto* view = std::get_if<model::View<SlotIndex>>(&one.operands)) {
                changed = follow(program, view->as, view->of) || changed;
            }
        }
    }
}

// With reference counts a name's old and new arrays live at once; other modes may delay every array's release. Each
// thread keeps some blocks to itself.
std::uint64_t blocks_to_reserve(const StepProgram& program)
{
    std::uint64_t reachable = 0;
    for (const ArraySlot& slot : program.slots) {
        reachable = base::saturating_add(reachable, base::saturating_mul(2, slot.capacity));
    }
    std::uint64_t kept = 0;
    for (const Instruction& one : program.instructions) {
        const auto* block = std::get_if<Parallel>(&one.operands);
        if (block != nullptr) {
            reachable = base::saturating_mul(reachable, block->threads + 1);
            kept = std::max(kept, base::saturating_mul(block->threads, lifetime::BlockSlab::kept_by_thread));
        }
    }
    const bool prompt = program.release.mode == model::ReleaseMode::refcount && !model::is_collected(program.release);
    return std::min(
        {prompt ? base::saturating_add(reachable, kept) : program.arrays, program.arrays, max_reserved_blocks});
}

base::Expected<trace::EventSelection> selection_of(trace::TraceReader& reader, const model::ReplayStep& step)
{
    trace::EventSelection selection;
    if (!step.left_out.empty()) {
        static_cast<void>(reader.read_stacks());
        selection.left_out = step.left_out;
    }
    const trace::TraceMoment moment = MEMSWEEP_TRY(trace::parse_moment(step.until));
    selection.most_events = MEMSWEEP_TRY(trace::events_before(reader, moment));
    selection.is_cut = trace::is_before_exit(reader, moment);
    return selection;
}

}  // namespace

base::Expected<PackedTrace> packed_trace(const std::vector<std::uint64_t>& words)
{
    auto region = MEMSWEEP_TRY(sys::SharedRegion::create(words.size() * sizeof(std::uint64_t), "memsweep-replay"));
    std::memcpy(region.data<std::byte>(), words.data(), words.size() * sizeof(std::uint64_t));
    return std::make_shared<const sys::SharedRegion>(std::move(region));
}

base::Expected<PackedTrace> PackedTraces::find_or_compile(const model::ReplayStep& step)
{
    const Key key{step.trace, step.threads, step.speed, step.left_out, step.until};
    if (const auto found = traces_.find(key); found != traces_.end()) {
        return found->second;
    }
    auto reader = MEMSWEEP_TRY(trace::TraceReader::open(step.trace));
    trace::ReplayCompileOptions options{.threads = step.threads, .paced = step.speed == model::ReplaySpeed::original};
    options.selection = MEMSWEEP_TRY(selection_of(reader, step));
    const auto words = MEMSWEEP_TRY(trace::compile_replay(reader, options));
    return traces_[key] = MEMSWEEP_TRY(packed_trace(words));
}

base::Expected<StepProgram> compile_steps(const model::Case& plan_case, PackedTraces& traces)
{
    StepProgram program;
    program.memory = plan_case.memory;
    program.release = plan_case.release;
    if (std::string why = model::driver_objection(plan_case.memory, plan_case.release.safety); !why.empty()) {
        return fail(ErrorCode::invalid_input, std::move(why), plan_case.id);
    }
    Compiler compiler{plan_case.id, program, traces};
    compiler.steps(plan_case.steps(), true);
    if (compiler.error()) {
        return fail(*compiler.error());
    }
    const std::uint64_t points = model::sample_count(plan_case.steps());
    const auto refuse = [&plan_case](std::string why) {
        return fail(ErrorCode::invalid_input, std::move(why), plan_case.id);
    };
    if (points > max_points) {
        return refuse(fmt::format("a repetition would take {} samples; at most {} are kept: sample outside the loop",
                                  points, max_points));
    }
    const std::uint64_t timed_calls = model::timed_call_count(plan_case.steps());
    if (timed_calls > max_timed_calls) {
        return refuse(
            fmt::format("a repetition would time {} calls; at most {} are kept", timed_calls, max_timed_calls));
    }
    if (program.instructions.size() > max_instructions || program.slot_names.size() > max_names ||
        program.phase_names.size() > max_names || program.sample_names.size() > max_names) {
        return refuse(fmt::format("a case can have at most {} steps and {} names", max_instructions, max_names));
    }
    settle_capacities(program);
    program.points = static_cast<std::uint32_t>(points);
    program.timed_calls = static_cast<std::uint32_t>(timed_calls);
    program.arrays = model::allocation_count(plan_case.steps());
    program.reserved_blocks = blocks_to_reserve(program);
    return program;
}

}  // namespace memsweep::engine
