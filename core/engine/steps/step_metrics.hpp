// The metrics of steps, of their transfers and of their replays.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says. A value is nullopt if the repetition did not
//          measure it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/engine/repetition/metric_row.hpp"
#include "core/engine/repetition/step_measurements.hpp"
#include "core/engine/repetition/step_program.hpp"

namespace memsweep::engine {

using StepRow = MetricRow<StepProgram, StepMeasurements>;
using StepContext = StepRow::Context;

[[nodiscard]] std::span<const StepRow> step_rows();
[[nodiscard]] std::span<const StepRow> transfer_rows();
[[nodiscard]] std::span<const StepRow> replay_rows();

// The rows of steps, of transfers and of replays.
[[nodiscard]] inline std::array<std::span<const StepRow>, 3> rows_of(const StepProgram& /*subject*/)
{
    return {step_rows(), transfer_rows(), replay_rows()};
}

namespace values {

// Each returns a field of the record. field(): unchanged. counted(): as a count. timed(): in seconds. `path`: the
// pointers to members that lead from the record to the field.
template <auto... path>
const auto& field(const StepContext& context)
{
    return (context.measured.record.*....*path);
}

template <auto... path>
Value counted(const StepContext& context)
{
    return static_cast<double>(field<path...>(context));
}

template <auto... path>
Value timed(const StepContext& context)
{
    return seconds(field<path...>(context));
}

// Three forms of values in StepCounts. step_count(): as a count; nullopt: part of it is unknown. step_time(): in
// seconds. step_rate(): in bytes per second.
template <model::MetricId metric>
[[nodiscard]] Value step_count(const StepContext& context)
{
    const StepCount& counted = context.measured.record.counts[metric];
    return counted.unknown ? Value{} : static_cast<double>(counted.value);
}

template <model::MetricId metric>
[[nodiscard]] Value step_time(const StepContext& context)
{
    return seconds(context.measured.record.counts[metric].value);
}

template <model::MetricId bytes, model::MetricId ns>
[[nodiscard]] Value step_rate(const StepContext& context)
{
    const StepCounts& counts = context.measured.record.counts;
    return per_second(counts[bytes].value, static_cast<std::int64_t>(counts[ns].value));
}

// Returns the number of measured minor faults divided by the expected number. One fault is expected for each huge page,
// and one for each base page of all other memory. nullopt if anything was released, because reused memory does not
// fault again.
[[nodiscard]] Value faults_over_expected(const StepContext& context);
// Returns the share of requests that were served with memory kept for reuse, either by the pool or by the release mode
// itself. For these requests the memory resource was not asked for memory.
[[nodiscard]] Value pool_hit_rate(const StepContext& context);
[[nodiscard]] Value pool_waste(const StepContext& context);
[[nodiscard]] Value fragmentation(const StepContext& context);
// Returns the median in seconds. For an even number of values this is the larger of the two middle ones, as in
// NumSharp's benchmark (docs/measurement.md). nullopt: there are no values.
[[nodiscard]] Value upper_middle(std::vector<std::int64_t> times_ns);
[[nodiscard]] Value mean(const std::vector<std::int64_t>& times_ns);
[[nodiscard]] Value fault_time_of(const StepContext& context, std::uint64_t minor_faults, const Costs& spent);
[[nodiscard]] Value fault_time(const StepContext& context);
[[nodiscard]] Value other_time(const StepContext& context);

}  // namespace values

// Properties of steps that are known before they run.
namespace scope {

template <typename Step>
[[nodiscard]] bool has(const StepProgram& program)
{
    return std::ranges::any_of(program.instructions, is<Step>);
}

// Whether another thread frees the memory that a collection has found to be unreachable.
[[nodiscard]] bool queues(const StepProgram& program);

// Whether freed memory is kept for later arrays, by the release mode itself or by a pool.
[[nodiscard]] bool keeps_or_pools(const StepProgram& program);

// Whether the program may wait for a collection: the release mode collects, or some step collects or drains.
[[nodiscard]] bool waits(const StepProgram& program);

}  // namespace scope

}  // namespace memsweep::engine
