#include "core/engine/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/array/cast_table.hpp"
#include "core/engine/compile.hpp"
#include "core/measure/summary.hpp"
#include "core/memory/malloc_cost.hpp"
#include "core/sys/command_launch.hpp"
#include "core/sys/machine_measures.hpp"

namespace memsweep::engine {
namespace {

constexpr std::uint64_t price_operations = 4'000;  // a tenth of a millisecond: most rounds see no other program
constexpr int price_rounds = 10;
constexpr int price_turns = 5;  // engine and bare calls take turns: processors change their pace within milliseconds
constexpr std::uint64_t price_bytes = 64;
constexpr int clock_reads = 100;
constexpr int clock_rounds = 10;
constexpr std::size_t most_idle_runs = 11;
constexpr std::chrono::milliseconds idle_runs_time{10};  // no more runs are begun after that

// Rounds of allocates and drops of one small array, each a phase of its own.
model::Case price_case(model::Accounting accounting)
{
    model::Case one;
    one.id = "harness";
    one.memory.accounting = accounting;
    model::AllocStep alloc;
    alloc.as = "a";
    alloc.dtype = model::DType::uint8;
    alloc.shape = {price_bytes};
    model::Steps steps;
    const model::RepeatStep loop{price_operations, {{.operation = alloc}, {.operation = model::DropStep{"a"}}}};
    for (int round = 0; round < price_rounds; ++round) {
        steps.push_back({.operation = loop, .phase = fmt::format("{}", round)});
    }
    one.work = std::move(steps);
    return one;
}

// Nanoseconds an operation of the fastest round; empty when the worker did not answer.
std::optional<double> engine_ns_per_op(Executor& executor, const CompiledCase& compiled)
{
    const Attempt attempt = executor.run(compiled, {.timeout = std::chrono::seconds{30}}, [](int /*pid*/) {});
    if (attempt.ending != Ending::finished || attempt.steps().phases.empty()) {
        return std::nullopt;
    }
    const auto fastest = std::ranges::min(attempt.steps().phases, {}, &PhaseRecord::time_ns).time_ns;
    return static_cast<double>(fastest) / static_cast<double>(price_operations);
}

// What an allocate and a drop of one array takes through the whole engine in a worker, beyond a malloc and free in a
// loop of their own: the fastest rounds of both, in turns, since what disturbs only makes slower. Empty when a worker
// did not answer.
std::optional<double> harness_seconds_per_op(Executor& executor, const sys::Clock& clock, model::Accounting accounting)
{
    const auto compiled = compile(price_case(accounting));
    if (!compiled) {
        return std::nullopt;
    }
    double engine_ns = std::numeric_limits<double>::infinity();
    double bare_ns = std::numeric_limits<double>::infinity();
    for (int turn = 0; turn < price_turns; ++turn) {
        const auto engine = engine_ns_per_op(executor, *compiled);
        if (!engine) {
            return std::nullopt;
        }
        engine_ns = std::min(engine_ns, *engine);
        bare_ns = std::min(bare_ns, std::max(memory::measure_malloc_cost(clock, price_bytes).ns_per_op, 0.0));
    }
    return std::max(engine_ns - bare_ns, 0.0) * 1e-9;
}

CompiledCase idle_case(const sys::IdleProgram& idle)
{
    return {.work = model::CommandSpec{.run = {idle.path}, .exit_code = static_cast<std::uint32_t>(idle.exit_code)}};
}

// Measures repetitions of a program that does nothing: the least of their times, since disturbance only makes them
// longer, and the median of what they take beside it, which is to be expected. Left empty where the program cannot be
// run.
void calibrate_runs(Executor& executor, const sys::Clock& clock, model::Calibration& calibration)
{
    const auto idle = sys::idle_program();
    if (!idle) {
        return;
    }
    const CompiledCase idle_program = idle_case(*idle);
    std::vector<double> inside;  // wall_time
    std::vector<double> beside;  // what a repetition takes beside it
    const auto begin = clock.now();
    while (inside.size() < most_idle_runs && (inside.empty() || clock.now() - begin < idle_runs_time)) {
        const auto before = clock.now();
        const Attempt attempt = executor.run(idle_program, {.timeout = std::chrono::seconds{30}}, [](int /*pid*/) {});
        const auto elapsed = clock.now() - before;
        if (attempt.ending != Ending::finished) {
            return;
        }
        const std::chrono::nanoseconds wall{attempt.command().wall_ns};
        inside.push_back(sys::seconds_of(wall));
        beside.push_back(sys::seconds_of(std::max(elapsed - wall, std::chrono::nanoseconds::zero())));
    }
    calibration.harness_seconds_per_run = std::ranges::min(inside);
    calibration.harness_seconds_beside_run = measure::median(beside);
}

bool runs_uncounted(const model::Case& one)
{
    return one.memory.accounting == model::Accounting::off;
}

// Seconds per reading of the clock, in the fastest round.
double clock_read_seconds(const sys::Clock& clock)
{
    std::chrono::nanoseconds least = std::chrono::nanoseconds::max();
    for (int round = 0; round < clock_rounds; ++round) {
        const auto begin = clock.now();
        auto end = begin;
        for (int i = 0; i < clock_reads; ++i) {
            end = clock.now();
        }
        least = std::min(least, end - begin);
    }
    return sys::seconds_of(least) / clock_reads;
}

std::optional<std::uint64_t> if_ever(std::uint64_t streamed_bytes)
{
    return streamed_bytes == array::never_streamed ? std::nullopt : std::optional{streamed_bytes};
}

}  // namespace

array::StreamingSizes calibrate_streaming(const sys::Clock& clock, model::Calibration& calibration)
{
    const array::StreamingSizes presumed = array::streams_from();
    const array::CastTable& table = array::cast_table();
    const array::StreamingSizes sizes = array::streaming_sizes(array::try_streaming(table, clock), presumed.in_pieces);
    if (table.streams()) {
        calibration.streaming_from_bytes = if_ever(sizes.front_to_back);
        calibration.streaming_pieces_from_bytes = if_ever(sizes.in_pieces);
    }
    return sizes;
}

void calibrate_harness(const model::Plan& plan, Executor& executor, const sys::Clock& clock,
                       model::Calibration& calibration)
{
    calibration.clock_read_seconds = clock_read_seconds(clock);
    if (model::runs_commands(plan)) {
        calibrate_runs(executor, clock, calibration);
    } else {
        calibration.harness_seconds_per_op = harness_seconds_per_op(executor, clock, model::Accounting::exact);
    }
    if (std::ranges::any_of(plan.cases, runs_uncounted)) {
        calibration.harness_seconds_per_op_uncounted = harness_seconds_per_op(executor, clock, model::Accounting::off);
    }
}

std::function<void(model::MachineRounds&)> pace_noter(const sys::Clock& clock)
{
    return [pace = std::make_shared<sys::MachinePace>(clock)](model::MachineRounds& rounds) {
        if (const auto reading = pace->read()) {
            rounds.compute_seconds.push_back(reading->compute_seconds);
            rounds.copy_seconds.push_back(reading->copy_seconds);
            rounds.fault_seconds.push_back(reading->fault_seconds);
            rounds.release_seconds.push_back(reading->release_seconds);
        }
    };
}

}  // namespace memsweep::engine
