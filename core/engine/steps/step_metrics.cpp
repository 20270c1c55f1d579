#include "core/engine/steps/step_metrics.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace memsweep::engine {
namespace {

using scope::has;

bool always(const StepProgram& /*program*/)
{
    return true;
}

bool is_arena(const StepProgram& program)
{
    return model::family_of(program.release.mode) == model::ModeFamily::arena;
}

bool makes_arrays(const StepProgram& program)
{
    const auto keeps_none = [](const auto& operands) { return requires { operands.keeps_no_array; }; };
    return program.arrays != 0 || std::ranges::any_of(program.instructions, [&](const Instruction& one) {
               return std::visit(keeps_none, one.operands);
           });
}

bool keeps(const StepProgram& program)
{
    return model::family_of(program.release.mode) == model::ModeFamily::cache;
}

bool pools(const StepProgram& program)
{
    return program.memory.pool.kind != model::PoolKind::none;
}

bool maintains(const StepProgram& program)
{
    return pools(program) && program.memory.pool.trim_interval_ns != 0;
}

bool collects(const StepProgram& program)
{
    const model::ReleaseSpec& release = program.release;
    const bool pressed = keeps(program) && release.pressure.rule != model::PressureRule::none;
    return model::is_collected(release) || release.mode == model::ReleaseMode::deferred_batch || pressed;
}

bool delays(const StepProgram& program)
{
    return collects(program) || is_arena(program);
}

bool frees_by_hand(const StepProgram& program)
{
    return model::frees_manually(program.release);
}

bool spares_collections(const StepProgram& program)
{
    return frees_by_hand(program) && model::is_collected(program.release);
}

bool capped(const StepProgram& program)
{
    return collects(program) && program.release.cap.bytes != 0;
}

bool bumps(const StepProgram& program)
{
    return is_arena(program) || program.release.mode == model::ReleaseMode::stack;
}

bool reads(const StepProgram& program)
{
    return has<model::ReadStep>(program) || has<model::StreamStep>(program);
}

bool looks_for_uses(const StepProgram& program)
{
    return program.release.safety.detect != model::Detection::off ||
           program.release.mode == model::ReleaseMode::arena_checked;
}

bool maps_pages(const StepProgram& program)
{
    return program.memory.resource == model::ResourceKind::pages && !pools(program) && !program.memory.populated &&
           !program.memory.locked && program.points != 0;
}

// Whether blocks are trimmed, by a step or by the policy.
bool trims(const StepProgram& program)
{
    return has<model::TrimStep>(program) || program.memory.trim.above_bytes != 0;
}

bool is_shared(const StepProgram& program)
{
    return model::is_shared(program.memory.resource);
}

bool may_have_huge_pages(const StepProgram& program)
{
    return !is_shared(program) &&
           (program.memory.pages == model::PageKind::thp || program.memory.huge_pages_from_bytes != 0);
}

}  // namespace

namespace scope {

bool queues(const StepProgram& program)
{
    using model::Fallback;
    using model::ReleaseMode;
    const model::ReleaseSpec& release = program.release;
    const bool fallback = release.fallback == Fallback::finalizer || release.fallback == Fallback::cleaner;
    return release.mode == ReleaseMode::finalizer || release.mode == ReleaseMode::cleaner ||
           (model::frees_manually(release) && fallback);
}

bool keeps_or_pools(const StepProgram& program)
{
    return keeps(program) || pools(program);
}

bool waits(const StepProgram& program)
{
    return model::is_collected(program.release) || has<model::DrainStep>(program) || has<model::CollectStep>(program);
}

}  // namespace scope

namespace {

using namespace scope;
using namespace values;
using Id = model::MetricId;
using Record = StepRecord;
using Discipline = lifetime::DisciplineStats;
using Pool = memory::PoolStats;

constexpr std::string_view no_time = "the clock showed no time for it";
constexpr std::string_view no_cost = "not measured beside this repetition";
constexpr std::string_view none_freed = "nothing that was dropped was freed in this repetition";
constexpr std::string_view no_operation = "no array was allocated in the timed steps, and no call was timed";

template <auto field_of_pool>
inline constexpr auto pooled = counted<&StepRecord::pool, field_of_pool>;

template <auto field_of_discipline>
inline constexpr auto released = counted<&StepRecord::discipline, field_of_discipline>;

template <auto field_of_latency>
Value waited(const StepContext& context)
{
    const lifetime::LatencySummary& latency = context.measured.record.discipline.release_latency;
    return latency.count == 0 ? Value{} : seconds(latency.*field_of_latency);
}

template <auto field_of_costs>
Value fault_cost(const StepContext& context)
{
    const double cost = context.measured.record.fault_costs.*field_of_costs;
    return cost > 0 ? Value{cost} : std::nullopt;
}

template <auto field_of_slot>
Value over_slots(const StepContext& context)
{
    std::uint64_t sum = 0;
    for (const SlotRecord& slot : context.measured.slots) {
        sum += slot.*field_of_slot;
    }
    return static_cast<double>(sum);
}

// The longest or the shortest of the calls that were timed one by one.
template <bool longest>
Value extreme_call(const StepContext& context)
{
    const auto& times = context.measured.call_times_ns;
    return times.empty() ? Value{} : seconds(longest ? std::ranges::max(times) : std::ranges::min(times));
}

constexpr auto concats = has<model::ConcatStep>;
constexpr auto migrates = has<model::MigrateStep>;
constexpr auto streams = has<model::StreamStep>;
constexpr auto shares = has<model::ShareStep>;

constexpr auto rows = each_metric_once(std::to_array<StepRow>({
    {Id::wall_time, always, timed<&Record::wall_ns>},
    {Id::cpu_time, always, timed<&Record::cpu_ns>},
    {Id::time_per_op, makes_arrays,
     [](const StepContext& c) {
         return concats(c.work) ? upper_middle(c.measured.call_times_ns)
                                   : per_array(seconds(c.measured.record.wall_ns), c.measured.record.timed_arrays);
     },
     no_operation},
    {Id::call_time_min, concats, extreme_call<false>, no_operation},
    {Id::call_time_mean, concats, [](const StepContext& c) { return mean(c.measured.call_times_ns); }, no_operation},
    {Id::call_time_max, concats, extreme_call<true>, no_operation},
    {Id::working_set_peak, always, counted<&Record::peak_working_set_bytes>},
    {Id::working_set_peak_delta, always,
     [](const StepContext& c) -> Value {
         return difference(c.measured.record.peak_working_set_bytes, c.measured.record.baseline_working_set_bytes);
     }},
    {Id::residual_working_set, always,
     [](const StepContext& c) -> Value {
         return difference(c.measured.record.end_working_set_bytes, c.measured.record.baseline_working_set_bytes);
     }},
    {Id::live_bytes_peak, always, counted<&Record::live_bytes_peak>, {},
     {.races = true, .is_triggered = true, .needs_counters = true}},
    {Id::floating_bytes_peak, always, released<&Discipline::floating_bytes_peak>, {},
     {.races = true, .is_triggered = true}},
    {Id::minor_faults, always, counted<&Record::minor_faults>},
    {Id::major_faults, always, counted<&Record::major_faults>},
    {Id::faults_per_op, makes_arrays,
     [](const StepContext& c) {
         const StepRecord& record = c.measured.record;
         return concats(c.work) ? per_array(static_cast<double>(record.call_minor_faults), record.calls)
                                   : per_array(static_cast<double>(record.minor_faults), record.timed_arrays);
     },
     no_operation},
    {Id::checksum_ok, concats,
     [](const StepContext& c) -> Value {
         const StepRecord& record = c.measured.record;
         return record.results_checked == 0 ? Value{} : record.results_wrong == 0 ? 1.0 : 0.0;
     },
     "no result was looked at"},
    {Id::allocations, always, counted<&Record::arrays>, {}, {.needs_counters = true}},
    {Id::allocated_bytes, always, counted<&Record::allocated_bytes>, {}, {.needs_counters = true}},
    {Id::pages_touched, always, counted<&Record::array_counts, &ArrayCounts::pages_touched>},
    {Id::faults_over_expected, maps_pages, faults_over_expected,
     "the known answer holds only while nothing was released before the last sample", {.needs_counters = true}},
    {Id::collections, collects, released<&Discipline::collections>, {}, {.is_triggered = true, .is_by_rule = true}},
    {Id::queue_depth_peak, queues, released<&Discipline::queue_depth_peak>},
    {Id::release_latency, delays, waited<&lifetime::LatencySummary::median_ns>, none_freed},
    {Id::release_latency_p95, delays, waited<&lifetime::LatencySummary::p95_ns>, none_freed},
    {Id::release_latency_max, delays, waited<&lifetime::LatencySummary::max_ns>, none_freed},
    {Id::gc_pause_time, collects, timed<&Record::discipline, &Discipline::pause_ns>, {}, {.is_by_rule = true}},
    {Id::gc_pause_max, collects, timed<&Record::discipline, &Discipline::pause_max_ns>, {}, {.is_by_rule = true}},
    {Id::gc_avoided, spares_collections, released<&Discipline::collections_avoided>},
    {Id::freed_early, frees_by_hand, released<&Discipline::freed_early>},
    {Id::finalizers_registered, queues, released<&Discipline::finalizers_registered>},
    {Id::reserve_sleeps, capped, released<&Discipline::stalls>, {}, {.is_by_rule = true}},
    {Id::reserve_sleep_time, capped, timed<&Record::discipline, &Discipline::stall_ns>, {}, {.is_by_rule = true}},
    {Id::arena_bytes, bumps, released<&Discipline::bumped_bytes>},
    {Id::arena_slabs, is_arena, released<&Discipline::slabs>},
    {Id::arena_escapes, is_arena, released<&Discipline::escapes>},
    {Id::pool_hit_rate, keeps_or_pools, pool_hit_rate, "no array was made"},
    {Id::pool_thread_hits, pools, pooled<&Pool::thread_hits>},
    {Id::pool_depot_hits, pools, pooled<&Pool::depot_hits>},
    {Id::pool_common_hits, pools, pooled<&Pool::common_hits>},
    {Id::pool_misses, pools, pooled<&Pool::misses>},
    {Id::pool_bypasses, pools, pooled<&Pool::bypasses>},
    {Id::pool_waste, pools, pool_waste, "the pool served nothing"},
    {Id::pool_held_peak, pools, pooled<&Pool::held_bytes_peak>},
    {Id::pool_evictions, pools, pooled<&Pool::evictions>},
    {Id::pool_released_bytes, pools, pooled<&Pool::released_bytes>},
    {Id::pool_trim_time, pools, timed<&Record::pool, &Pool::trim_ns>},
    {Id::pool_passes, maintains, pooled<&Pool::passes>},
    {Id::pool_short_blocks, pools, pooled<&Pool::short_blocks>},
    {Id::fragmentation, pools, fragmentation, "nothing lay idle in the pool at any sample"},
    {Id::outstanding, always, counted<&Record::outstanding>, {}, {.races = true, .is_triggered = true}},
    {Id::checksum, reads, counted<&Record::array_counts, &ArrayCounts::checksum>},
    {Id::use_after_free, looks_for_uses, over_slots<&SlotRecord::uses_after_free>},
    {Id::double_frees, frees_by_hand, over_slots<&SlotRecord::double_frees>},
    {Id::stray_releases, always, counted<&Record::stray_releases>},
    {Id::fault_cost, always, fault_cost<&FaultCosts::small_page>, no_cost},
    {Id::huge_fault_cost, may_have_huge_pages, fault_cost<&FaultCosts::huge_page>, no_cost},
    {Id::shared_fault_cost, is_shared, fault_cost<&FaultCosts::shared_page>, no_cost},
    {Id::refault_cost, is_shared, fault_cost<&FaultCosts::shared_again>, no_cost},
    {Id::operations, makes_arrays,
     [](const StepContext& c) -> Value {
         const StepRecord& record = c.measured.record;
         return static_cast<double>(concats(c.work) ? record.calls : record.timed_arrays);
     }},
    {Id::fault_time, always, fault_time, no_cost},
    {Id::allocator_time, always, timed<&Record::costs, &Costs::allocator_ns>},
    {Id::collector_wait_time, waits, timed<&Record::costs, &Costs::wait_ns>, {}, {.is_by_rule = true}},
    {Id::run_delay_time, always,
     [](const StepContext& c) {
         const StepRecord& record = c.measured.record;
         return record.knows_run_delay ? Value{seconds(record.costs.run_delay_ns)} : std::nullopt;
     },
     "this kernel keeps no /proc/PID/schedstat"},
    {Id::kernel_time, always, timed<&Record::kernel_ns>},
    {Id::other_time, always, other_time, no_cost},
    {Id::drain_time, has<model::DrainStep>, step_time<Id::drain_time>},
    {Id::trims, trims, step_count<Id::trims>},
    {Id::trimmed_bytes, trims, step_count<Id::trimmed_bytes>, "the kernel refused a trim"},
    {Id::prefetched_bytes, has<model::PrefetchStep>, step_count<Id::prefetched_bytes>, "the kernel refused a prefetch"},
    {Id::migrated_bytes, migrates, step_count<Id::migrated_bytes>},
    {Id::unmoved_bytes, migrates, step_count<Id::unmoved_bytes>},
    {Id::streamed_bytes, streams, step_count<Id::streamed_bytes>},
    {Id::stream_bandwidth, streams, step_rate<Id::streamed_bytes, Id::stream_bandwidth>, no_time},
    {Id::shared_bytes, shares, step_count<Id::shared_bytes>},
    {Id::share_wrong_bytes, shares, step_count<Id::share_wrong_bytes>},
    {Id::share_bandwidth, shares, step_rate<Id::shared_bytes, Id::share_bandwidth>, no_time},
    {Id::share_latency, shares, step_time<Id::share_latency>},
    {Id::passed_arrays, has<model::PassStep>, step_count<Id::passed_arrays>},
}));

}  // namespace

std::span<const StepRow> step_rows()
{
    return rows;
}

}  // namespace memsweep::engine
