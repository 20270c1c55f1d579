// Every metric of the catalogue: which programs have it, and how its value comes out of a repetition's records.
//
// Units    seconds, bytes and counts, as model::metric_catalog() says; empty: the records do not tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/engine/executor.hpp"
#include "core/engine/program.hpp"
#include "core/model/metric_id.hpp"
#include "core/trace/replay/call_times.hpp"

namespace memsweep::engine {

namespace values {

struct Context {
    const Program& program;
    const Outcome& outcome;
    std::uint64_t page_bytes;
    std::uint64_t huge_page_bytes;
};

using Value = std::optional<double>;

[[nodiscard]] double difference(std::uint64_t a, std::uint64_t b);
[[nodiscard]] Value per_array(double total, std::uint64_t arrays);
[[nodiscard]] Value per_second(std::uint64_t bytes, std::int64_t ns);

template <typename Nanoseconds>
[[nodiscard]] double seconds(Nanoseconds ns)
{
    return static_cast<double>(ns) * 1e-9;
}

// The field of the record at the end of a path of members: itself, as a count, and as a time.
template <auto... path>
const auto& field(const Context& context)
{
    return (context.outcome.record.*....*path);
}

template <auto... path>
Value counted(const Context& context)
{
    return static_cast<double>(field<path...>(context));
}

template <auto... path>
Value timed(const Context& context)
{
    return seconds(field<path...>(context));
}

// What steps have counted for a metric.
template <model::MetricId metric>
[[nodiscard]] Value step_count(const Context& context)
{
    const StepCount& counted = context.outcome.record.counts[metric];
    return counted.unknown ? Value{} : static_cast<double>(counted.value);
}

template <model::MetricId metric>
[[nodiscard]] Value step_time(const Context& context)
{
    return seconds(context.outcome.record.counts[metric].value);
}

template <model::MetricId bytes, model::MetricId ns>
[[nodiscard]] Value step_rate(const Context& context)
{
    const StepCounts& counts = context.outcome.record.counts;
    return per_second(counts[bytes].value, static_cast<std::int64_t>(counts[ns].value));
}

// The known answer: one fault per huge page, one per base page of the rest. Only while nothing was released, since
// memory used twice faults once.
[[nodiscard]] Value faults_over_expected(const Context& context);
// What a discipline does not keep it asks the pool for; what neither keeps comes from the resource.
[[nodiscard]] Value pool_hit_rate(const Context& context);
[[nodiscard]] Value pool_waste(const Context& context);
[[nodiscard]] Value retained(const Context& context, std::string_view sample);
[[nodiscard]] Value realized_fragmentation(const Context& context);
// The lower edge of the step that holds the call which so large a share of the calls are no slower than.
[[nodiscard]] Value call_time(const Context& context, trace::CallKind kind, double share);
[[nodiscard]] Value fragmentation(const Context& context);
// The median as the original sweep takes it: the upper of the two middle ones where their number is even.
[[nodiscard]] Value upper_middle(std::vector<std::int64_t> times_ns);
[[nodiscard]] Value mean(const std::vector<std::int64_t>& times_ns);
[[nodiscard]] Value fault_time_of(const Context& context, std::uint64_t minor_faults, const Costs& spent);
[[nodiscard]] Value fault_time(const Context& context);
[[nodiscard]] Value other_time(const Context& context);

template <auto field_of_pool>
inline constexpr auto pooled = counted<&RepetitionRecord::pool, field_of_pool>;

template <auto field_of_discipline>
inline constexpr auto released = counted<&RepetitionRecord::discipline, field_of_discipline>;

inline const transfer::TransferStatistics& moved(const Context& context)
{
    return field<&RepetitionRecord::transfers, &TransferRecord::statistics>(context);
}

template <auto field_of_moved>
inline constexpr auto transferred = counted<&RepetitionRecord::transfers, &TransferRecord::statistics, field_of_moved>;

template <auto field_of_moved>
inline constexpr auto transfer_time = timed<&RepetitionRecord::transfers, &TransferRecord::statistics, field_of_moved>;

template <auto rate>
Value transfer_rate(const Context& context)
{
    return (moved(context).*rate)();
}

template <auto field_of_latency>
Value waited(const Context& context)
{
    const lifetime::LatencySummary& latency = context.outcome.record.discipline.release_latency;
    return latency.count == 0 ? Value{} : seconds(latency.*field_of_latency);
}

template <auto field_of_costs>
Value fault_cost(const Context& context)
{
    const double cost = context.outcome.record.fault_costs.*field_of_costs;
    return cost > 0 ? Value{cost} : std::nullopt;
}

template <auto field_of_slot>
Value over_slots(const Context& context)
{
    std::uint64_t sum = 0;
    for (const SlotRecord& slot : context.outcome.slots) {
        sum += slot.*field_of_slot;
    }
    return static_cast<double>(sum);
}

// The longest or the shortest of the calls that were timed one by one.
template <bool longest>
Value extreme_call(const Context& context)
{
    const auto& times = context.outcome.call_times_ns;
    return times.empty() ? Value{} : seconds(longest ? std::ranges::max(times) : std::ranges::min(times));
}

template <trace::CallKind kind, int percent>
Value call_percentile(const Context& context)
{
    return call_time(context, kind, percent / 100.0);
}

}  // namespace values

// What a program can show, as far as it can be told before it runs.
namespace scope {

template <typename Step>
[[nodiscard]] bool has(const Program& program)
{
    return std::ranges::any_of(program.instructions, is<Step>);
}

// Whether a thread of its own frees what a collection has found.
[[nodiscard]] bool queues(const Program& program);

// Whether memory lies idle between arrays: in the release mode's own store, or in a pool.
[[nodiscard]] bool keeps_or_pools(const Program& program);

// Whether the program can be made to wait for a collection.
[[nodiscard]] bool waits(const Program& program);

}  // namespace scope

// What of a program decides how a metric's values are to be read.
struct Nature {
    bool races{};           // with a finalizer's thread: noisy where the program has one
    bool is_triggered{};    // by collections: noisy where time triggers them
    bool is_by_rule{};      // a runtime profile's rule decides it: modelled under one
    bool needs_counters{};  // absent where the program asks to do without
};

struct Extractor {
    model::MetricId metric{};
    bool (*applies)(const Program&){};
    values::Value (*value)(const values::Context&){};
    std::string_view absent{};  // why a value can be missing; empty: it cannot
    Nature nature{};
};

[[nodiscard]] const Extractor& extractor_of(model::MetricId metric);

}  // namespace memsweep::engine
