#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>

#include "core/engine/steps/step_metrics.hpp"
#include "core/model/metric_id.hpp"
#include "core/model/specs.hpp"

namespace memsweep::engine {
namespace {

using namespace values;
using scope::has;
using trace::CallKind;
using Id = model::MetricId;

bool times_calls(const StepProgram& program)
{
    return program.times_calls;
}

// Whether what is live is resident, so that what is resident beyond it is the allocator's doing.
bool replays_touched(const StepProgram& program)
{
    return std::ranges::any_of(program.instructions, [](const Instruction& one) {
        const auto* replay = std::get_if<Replay>(&one.operands);
        return replay != nullptr && replay->touch != model::ReplayTouch::none;
    });
}

constexpr auto replays = has<model::ReplayStep>;

// Memory of a device, or none at all, is not resident.
bool replays_on_host(const StepProgram& program)
{
    return replays(program) && !model::is_beyond_reach(program.memory.resource) &&
           program.memory.resource != model::ResourceKind::null;
}

// A mode that frees later lets more be live than was recorded.
bool replays_immediately(const StepProgram& program)
{
    return replays(program) && program.release.mode == model::ReleaseMode::immediate;
}

template <auto bytes, auto is_known>
Value counted_if_looked_at(const StepContext& context)
{
    const ReplayRecord& replay = context.measured.record.replay;
    return replay.*is_known ? Value{static_cast<double>(replay.*bytes)} : Value{};
}

Value retained(const StepContext& context, std::string_view sample)
{
    for (const PointRecord& point : context.measured.points) {
        if (context.work.sample_names[point.name] == sample && point.working_set_bytes != 0) {
            return difference(point.working_set_bytes, context.measured.record.baseline_working_set_bytes);
        }
    }
    return std::nullopt;
}

Value realized_fragmentation(const StepContext& context)
{
    const StepRecord& record = context.measured.record;
    const double used = difference(record.peak_working_set_bytes, record.baseline_working_set_bytes);
    return record.live_bytes_peak == 0 ? Value{} : used / static_cast<double>(record.live_bytes_peak) - 1;
}

// The lower edge of the step that holds the call which so large a share of the calls are no slower than.
Value call_time(const StepContext& context, trace::CallKind kind, double share)
{
    if (context.measured.call_counts == nullptr) {
        return std::nullopt;
    }
    std::array<std::uint64_t, trace::call_time_steps> steps{};
    for (const auto& sizes : context.measured.call_counts->counts[static_cast<std::size_t>(kind)]) {
        std::ranges::transform(steps, sizes, steps.begin(), std::plus{});
    }
    const auto total = static_cast<double>(std::reduce(steps.begin(), steps.end()));
    double seen = 0;
    for (std::size_t step = 0; step < steps.size() && total > 0; ++step) {
        seen += static_cast<double>(steps[step]);
        if (steps[step] != 0 && seen >= share * total) {
            const auto ticks = static_cast<double>(trace::CallTimeCounts::ticks_of(step));
            return ticks * context.measured.record.replay.ns_per_tick * 1e-9;
        }
    }
    return std::nullopt;
}

template <trace::CallKind kind, int percent>
Value call_percentile(const StepContext& context)
{
    return call_time(context, kind, percent / 100.0);
}

constexpr std::string_view no_replay = "no event was replayed";
constexpr std::string_view not_looked_at = "the replay did not come to its last event";
constexpr std::string_view not_idle = "the replay was not idle after its last event (settle)";
constexpr std::string_view not_sampled = "the case takes no sample of this name";

constexpr auto rows_of_replays = each_metric_once(std::to_array<StepRow>({
    {Id::time_per_event, replays,
     [](const StepContext& c) {
         const ReplayRecord& replay = c.measured.record.replay;
         return per_array(seconds(replay.thread_ns), replay.events);
     },
     no_replay},
    {Id::dispatch_per_event, replays,
     [](const StepContext& c) {
         const ReplayRecord& replay = c.measured.record.replay;
         return per_array(seconds(replay.dispatch_ns), replay.dispatch_events);
     },
     no_replay},
    {Id::events, replays, counted<&StepRecord::replay, &ReplayRecord::events>},
    {Id::resident_peak, replays_on_host, counted_if_looked_at<&ReplayRecord::peak_bytes, &ReplayRecord::has_ended>,
     not_looked_at},
    {Id::resident_end, replays_on_host, counted_if_looked_at<&ReplayRecord::end_bytes, &ReplayRecord::has_ended>,
     not_looked_at},
    {Id::resident_idle, replays_on_host, counted_if_looked_at<&ReplayRecord::idle_bytes, &ReplayRecord::was_idle>,
     not_idle},
    {Id::live_bytes_bound, replays_immediately, counted<&StepRecord::replay, &ReplayRecord::live_bound>},
    {Id::retained_0s, replays, [](const StepContext& c) { return retained(c, model::metrics::retained_0s); },
     not_sampled},
    {Id::retained_100ms, replays, [](const StepContext& c) { return retained(c, model::metrics::retained_100ms); },
     not_sampled},
    {Id::retained_1s, replays, [](const StepContext& c) { return retained(c, model::metrics::retained_1s); },
     not_sampled},
    {Id::retained_5s, replays, [](const StepContext& c) { return retained(c, model::metrics::retained_5s); },
     not_sampled},
    {Id::retained_trimmed, replays, [](const StepContext& c) { return retained(c, model::metrics::retained_trimmed); },
     not_sampled},
    {Id::realized_fragmentation, replays_touched, realized_fragmentation, "nothing was live", {.needs_counters = true}},
    {Id::allocate_time_p50, times_calls, call_percentile<CallKind::allocate, 50>, no_replay},
    {Id::allocate_time_p99, times_calls, call_percentile<CallKind::allocate, 99>, no_replay},
    {Id::allocate_time_max, times_calls, call_percentile<CallKind::allocate, 100>, no_replay},
    {Id::release_time_p50, times_calls, call_percentile<CallKind::release, 50>, no_replay},
    {Id::release_time_p99, times_calls, call_percentile<CallKind::release, 99>, no_replay},
    {Id::release_time_max, times_calls, call_percentile<CallKind::release, 100>, no_replay},
}));

}  // namespace

std::span<const StepRow> replay_rows()
{
    return rows_of_replays;
}

}  // namespace memsweep::engine
