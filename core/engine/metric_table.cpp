#include "core/engine/metric_table.hpp"

#include <algorithm>
#include <array>

namespace memsweep::engine {
namespace {

using scope::has;

bool everywhere(const Program& /*program*/)
{
    return true;
}

bool is_command(const Program& program)
{
    return program.command.has_value();
}

// Whether memsweep itself carries steps out, and so knows what they did.
bool has_steps(const Program& program)
{
    return !is_command(program);
}

bool knows_allocations(const Program& program)
{
    return has_steps(program) || program.command->count;
}

bool counts_command(const Program& program)
{
    return is_command(program) && program.command->count;
}

bool never(const Program& /*program*/)
{
    return false;
}

bool is_arena(const Program& program)
{
    return model::family_of(program.release.mode) == model::ModeFamily::arena;
}

bool makes_arrays(const Program& program)
{
    return program.arrays != 0 || has<model::AllocFreeStep>(program);
}

bool keeps(const Program& program)
{
    return model::family_of(program.release.mode) == model::ModeFamily::cache;
}

bool pools(const Program& program)
{
    return program.memory.pool.kind != model::PoolKind::none;
}

bool maintains(const Program& program)
{
    return pools(program) && program.memory.pool.trim_interval_ns != 0;
}

bool collects(const Program& program)
{
    const model::ReleaseSpec& release = program.release;
    const bool pressed = keeps(program) && release.pressure.rule != model::PressureRule::none;
    return model::is_collected(release) || release.mode == model::ReleaseMode::deferred_batch || pressed;
}

bool delays(const Program& program)
{
    return collects(program) || is_arena(program);
}

bool frees_by_hand(const Program& program)
{
    return model::frees_manually(program.release);
}

bool spares_collections(const Program& program)
{
    return frees_by_hand(program) && model::is_collected(program.release);
}

bool capped(const Program& program)
{
    return collects(program) && program.release.cap.bytes != 0;
}

bool bumps(const Program& program)
{
    return is_arena(program) || program.release.mode == model::ReleaseMode::stack;
}

bool reads(const Program& program)
{
    return has<model::ReadStep>(program) || has<model::StreamStep>(program);
}

bool looks_for_uses(const Program& program)
{
    return program.release.safety.detect != model::Detection::off ||
           program.release.mode == model::ReleaseMode::arena_checked;
}

bool maps_pages(const Program& program)
{
    return program.memory.resource == model::ResourceKind::pages && !pools(program) && !program.memory.populated &&
           !program.memory.locked && program.points != 0;
}

bool transfers(const Program& program)
{
    return !program.transfers.empty();
}

bool replays_or_transfers(const Program& program)
{
    return !program.replays.empty() || transfers(program);
}

// Whether some transfer may take its bytes through slots.
bool may_stage(const Program& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        const bool wanted = plan.options.strategy == model::Strategy::automatic ||
                            plan.options.strategy == model::Strategy::staged ||
                            plan.options.strategy == model::Strategy::p2p;
        return wanted && std::any_of(plan.jobs.begin(), plan.jobs.begin() + static_cast<std::ptrdiff_t>(plan.count),
                                     [](const model::TransferJob& job) { return !model::is_on_host(job.spec); });
    });
}

bool registers(const Program& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        return plan.options.strategy == model::Strategy::registered;
    });
}

// Whether blocks are trimmed, by a step or by the policy.
bool trims(const Program& program)
{
    return has<model::TrimStep>(program) || program.memory.trim.above_bytes != 0;
}

bool is_shared(const Program& program)
{
    return program.memory.resource == model::ResourceKind::memfd;
}

bool may_have_huge_pages(const Program& program)
{
    return !is_shared(program) &&
           (program.memory.pages == model::PageKind::thp || program.memory.huge_pages_from_bytes != 0);
}

bool times_calls(const Program& program)
{
    return program.times_calls;
}

// Whether what is live is resident, so that what is resident beyond it is the allocator's doing.
bool replays_touched(const Program& program)
{
    return std::ranges::any_of(program.instructions, [](const Instruction& one) {
        const auto* replay = std::get_if<Replay>(&one.operands);
        return replay != nullptr && replay->touch != model::ReplayTouch::none;
    });
}

}  // namespace

namespace scope {

bool queues(const Program& program)
{
    using model::Fallback;
    using model::ReleaseMode;
    const model::ReleaseSpec& release = program.release;
    const bool fallback = release.fallback == Fallback::finalizer || release.fallback == Fallback::cleaner;
    return release.mode == ReleaseMode::finalizer || release.mode == ReleaseMode::cleaner ||
           (model::frees_manually(release) && fallback);
}

bool keeps_or_pools(const Program& program)
{
    return keeps(program) || pools(program);
}

bool waits(const Program& program)
{
    return model::is_collected(program.release) || has<model::DrainStep>(program) || has<model::CollectStep>(program);
}

}  // namespace scope

namespace {

using namespace scope;
using namespace values;
using trace::CallKind;
using Id = model::MetricId;
using Record = RepetitionRecord;
using Discipline = lifetime::DisciplineStats;
using Pool = memory::PoolStats;
using Moved = transfer::TransferStatistics;

Value no_value(const Context& /*context*/)
{
    return std::nullopt;
}

constexpr std::string_view no_replay = "no event was replayed";
constexpr std::string_view not_looked_at = "the replay did not come to its last event";
constexpr std::string_view not_idle = "the replay was not idle after its last event (settle)";
constexpr std::string_view no_time = "the clock showed no time for it";
constexpr std::string_view not_sampled = "the case takes no sample of this name";
constexpr std::string_view no_transfer = "no transfer was completed";
constexpr std::string_view no_cost = "not measured beside this repetition";
constexpr std::string_view none_freed = "nothing that was dropped was freed in this repetition";
constexpr std::string_view no_operation = "no array was allocated in the timed steps, and no call was timed";

constexpr std::string_view no_counters =
    "this machine lets nobody here count instructions and cycles (perf_event_open; kernel.perf_event_paranoid)";

constexpr std::string_view not_counted = "a command's allocations are not counted in this repetition";

template <auto count>
Value command_allocations(const Context& context)
{
    const auto& counts = context.outcome.command.counts;
    return counts ? Value{static_cast<double>((*counts).*count)} : Value{};
}

// What a command allocated itself, or, where the program has steps, what memsweep did for them.
template <auto of_command, auto... by_steps>
Value allocated(const Context& context)
{
    return is_command(context.program) ? command_allocations<of_command>(context) : counted<by_steps...>(context);
}

// What a foreign program does not tell.
Value of_steps(const Context& context, double value)
{
    return is_command(context.program) ? Value{} : Value{value};
}

template <auto time>
Value command_time(const Context& context)
{
    return std::chrono::duration<double>(context.outcome.command.*time).count();
}

template <auto count>
Value command_count(const Context& context)
{
    return static_cast<double>(context.outcome.command.*count);
}

Value whole(const std::optional<std::uint64_t>& count)
{
    return count ? Value{static_cast<double>(*count)} : Value{};
}

constexpr auto concats = has<model::ConcatStep>;
constexpr auto replays = has<model::ReplayStep>;

// Memory of a device, or none at all, is not resident.
bool replays_on_host(const Program& program)
{
    return replays(program) && !model::is_beyond_reach(program.memory.resource) &&
           program.memory.resource != model::ResourceKind::null;
}

// A mode that frees later lets more be live than was recorded.
bool replays_immediately(const Program& program)
{
    return replays(program) && program.release.mode == model::ReleaseMode::immediate;
}

template <auto bytes, auto is_known>
Value counted_if_looked_at(const Context& context)
{
    const ReplayRecord& replay = context.outcome.record.replay;
    return replay.*is_known ? Value{static_cast<double>(replay.*bytes)} : Value{};
}

constexpr auto migrates = has<model::MigrateStep>;
constexpr auto streams = has<model::StreamStep>;
constexpr auto shares = has<model::ShareStep>;

constexpr auto rows = std::to_array<Extractor>({
    {Id::wall_time, everywhere, timed<&Record::wall_ns>},
    {Id::cpu_time, everywhere, timed<&Record::cpu_ns>},
    {Id::time_per_op, makes_arrays,
     [](const Context& c) {
         return concats(c.program) ? upper_middle(c.outcome.call_times_ns)
                                   : per_array(seconds(c.outcome.record.wall_ns), c.outcome.record.timed_arrays);
     },
     no_operation},
    {Id::call_time_min, concats, extreme_call<false>, no_operation},
    {Id::call_time_mean, concats, [](const Context& c) { return mean(c.outcome.call_times_ns); }, no_operation},
    {Id::call_time_max, concats, extreme_call<true>, no_operation},
    {Id::working_set_peak, everywhere, counted<&Record::peak_working_set_bytes>},
    {Id::working_set_peak_delta, has_steps,
     [](const Context& c) -> Value {
         return difference(c.outcome.record.peak_working_set_bytes, c.outcome.record.baseline_working_set_bytes);
     }},
    {Id::residual_working_set, everywhere,
     [](const Context& c) {
         return of_steps(c, difference(c.outcome.record.end_working_set_bytes,
                                       c.outcome.record.baseline_working_set_bytes));
     },
     "a command has ended when it is looked at"},
    {Id::live_bytes_peak, everywhere, allocated<&trace::Counts::live_bytes_peak, &Record::live_bytes_peak>, not_counted,
     {.races = true, .is_triggered = true, .needs_counters = true}},
    {Id::floating_bytes_peak, everywhere,
     [](const Context& c) {
         return of_steps(c, static_cast<double>(c.outcome.record.discipline.floating_bytes_peak));
     },
     "what a command gives up and does not free is not known", {.races = true, .is_triggered = true}},
    {Id::minor_faults, everywhere, counted<&Record::minor_faults>},
    {Id::major_faults, everywhere, counted<&Record::major_faults>},
    {Id::faults_per_op, makes_arrays,
     [](const Context& c) {
         const Record& record = c.outcome.record;
         return concats(c.program) ? per_array(static_cast<double>(record.call_minor_faults), record.calls)
                                   : per_array(static_cast<double>(record.minor_faults), record.timed_arrays);
     },
     no_operation},
    {Id::checksum_ok, concats,
     [](const Context& c) -> Value {
         const Record& record = c.outcome.record;
         return record.results_checked == 0 ? Value{} : record.results_wrong == 0 ? 1.0 : 0.0;
     },
     "no result was looked at"},
    {Id::allocations, knows_allocations, allocated<&trace::Counts::allocations, &Record::arrays>, not_counted,
     {.needs_counters = true}},
    {Id::allocated_bytes, knows_allocations, allocated<&trace::Counts::allocated_bytes, &Record::allocated_bytes>,
     not_counted, {.needs_counters = true}},
    {Id::pages_touched, has_steps, counted<&Record::array_counts, &ArrayCounts::pages_touched>},
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
    {Id::outstanding, has_steps, counted<&Record::outstanding>, {}, {.races = true, .is_triggered = true}},
    {Id::checksum, reads, counted<&Record::array_counts, &ArrayCounts::checksum>},
    {Id::use_after_free, looks_for_uses, over_slots<&SlotRecord::uses_after_free>},
    {Id::double_frees, frees_by_hand, over_slots<&SlotRecord::double_frees>},
    {Id::stray_releases, has_steps, counted<&Record::stray_releases>},
    {Id::fault_cost, has_steps, fault_cost<&FaultCosts::small_page>, no_cost},
    {Id::huge_fault_cost, may_have_huge_pages, fault_cost<&FaultCosts::huge_page>, no_cost},
    {Id::shared_fault_cost, is_shared, fault_cost<&FaultCosts::shared_page>, no_cost},
    {Id::refault_cost, is_shared, fault_cost<&FaultCosts::shared_again>, no_cost},
    {Id::time_per_transfer, transfers,
     [](const Context& c) { return per_array(seconds(moved(c).wall_ns), moved(c).all_transfers()); }, no_transfer},
    {Id::transfer_wrong_bytes, transfers, transferred<&Moved::wrong_bytes>},
    {Id::transfer_copies, transfers, transferred<&Moved::copies>},
    {Id::staged_bytes, may_stage, transferred<&Moved::staged_bytes>},
    {Id::transfer_retries, transfers, transferred<&Moved::retries>},
    {Id::transfer_memory_time, transfers, transfer_time<&Moved::memory_ns>},
    {Id::transfer_register_time, registers, transfer_time<&Moved::register_ns>},
    {Id::transfer_wait_time, transfers, transfer_time<&Moved::wait_ns>},
    {Id::transfer_overlap, may_stage, transfer_rate<&Moved::overlap>,
     "nothing was staged between host and device, or the device tells no time"},
    {Id::transfers_at_once, transfers, transfer_rate<&Moved::average_at_once>, no_transfer},
    {Id::concurrency_benefit, transfers, transfer_rate<&Moved::concurrency_benefit>, no_transfer},
    {Id::pinned_bytes_peak, transfers, transferred<&Moved::pinned_bytes_peak>},
    {Id::operations, makes_arrays,
     [](const Context& c) -> Value {
         const Record& record = c.outcome.record;
         return static_cast<double>(concats(c.program) ? record.calls : record.timed_arrays);
     }},
    {Id::time_per_event, replays,
     [](const Context& c) {
         const ReplayRecord& replay = c.outcome.record.replay;
         return per_array(seconds(replay.thread_ns), replay.events);
     },
     no_replay},
    {Id::dispatch_per_event, replays,
     [](const Context& c) {
         const ReplayRecord& replay = c.outcome.record.replay;
         return per_array(seconds(replay.dispatch_ns), replay.dispatch_events);
     },
     no_replay},
    {Id::events, replays, counted<&Record::replay, &ReplayRecord::events>},
    {Id::transferred_bytes, replays_or_transfers,
     [](const Context& c) -> Value {
         return static_cast<double>(c.outcome.record.replay.transferred_bytes + moved(c).all_bytes());
     }},
    {Id::resident_peak, replays_on_host, counted_if_looked_at<&ReplayRecord::peak_bytes, &ReplayRecord::has_ended>,
     not_looked_at},
    {Id::resident_end, replays_on_host, counted_if_looked_at<&ReplayRecord::end_bytes, &ReplayRecord::has_ended>,
     not_looked_at},
    {Id::resident_idle, replays_on_host, counted_if_looked_at<&ReplayRecord::idle_bytes, &ReplayRecord::was_idle>,
     not_idle},
    {Id::live_bytes_bound, replays_immediately, counted<&Record::replay, &ReplayRecord::live_bound>},
    {Id::retained_0s, replays, [](const Context& c) { return retained(c, "retained_0s"); }, not_sampled},
    {Id::retained_100ms, replays, [](const Context& c) { return retained(c, "retained_100ms"); }, not_sampled},
    {Id::retained_1s, replays, [](const Context& c) { return retained(c, "retained_1s"); }, not_sampled},
    {Id::retained_5s, replays, [](const Context& c) { return retained(c, "retained_5s"); }, not_sampled},
    {Id::retained_trimmed, replays, [](const Context& c) { return retained(c, "retained_trimmed"); }, not_sampled},
    {Id::realized_fragmentation, replays_touched, realized_fragmentation, "nothing was live", {.needs_counters = true}},
    {Id::allocate_time_p50, times_calls, call_percentile<CallKind::allocate, 50>, no_replay},
    {Id::allocate_time_p99, times_calls, call_percentile<CallKind::allocate, 99>, no_replay},
    {Id::allocate_time_max, times_calls, call_percentile<CallKind::allocate, 100>, no_replay},
    {Id::release_time_p50, times_calls, call_percentile<CallKind::release, 50>, no_replay},
    {Id::release_time_p99, times_calls, call_percentile<CallKind::release, 99>, no_replay},
    {Id::release_time_max, times_calls, call_percentile<CallKind::release, 100>, no_replay},
    {Id::fault_time, has_steps, fault_time, no_cost},
    {Id::bandwidth, transfers, transfer_rate<&Moved::aggregate_rate>, no_time},
    {Id::payload_bandwidth, never, no_value},
    {Id::bus_bandwidth, never, no_value},
    {Id::ceiling_share, never, no_value},
    {Id::latency, never, no_value},
    {Id::time_per_fault, never, no_value},
    {Id::allocator_time, has_steps, timed<&Record::costs, &Costs::allocator_ns>},
    {Id::collector_wait_time, waits, timed<&Record::costs, &Costs::wait_ns>, {}, {.is_by_rule = true}},
    {Id::run_delay_time, has_steps,
     [](const Context& c) {
         const Record& record = c.outcome.record;
         return record.knows_run_delay ? Value{seconds(record.costs.run_delay_ns)} : std::nullopt;
     },
     "this kernel keeps no /proc/PID/schedstat"},
    {Id::kernel_time, has_steps, timed<&Record::kernel_ns>},
    {Id::other_time, has_steps, other_time, no_cost},
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
    {Id::user_time, is_command, command_time<&CommandRecord::user_time>},
    {Id::system_time, is_command, command_time<&CommandRecord::system_time>},
    {Id::context_switches, is_command, command_count<&CommandRecord::context_switches>},
    {Id::read_bytes, is_command, command_count<&CommandRecord::read_bytes>},
    {Id::written_bytes, is_command, command_count<&CommandRecord::written_bytes>},
    {Id::pressure, is_command, [](const Context& c) -> Value { return c.outcome.command.pressure_seconds; },
     "the kernel keeps no pressure figures (/proc/pressure/memory)"},
    {Id::instructions, is_command,
     [](const Context& c) { return whole(c.outcome.command.hardware.instructions); }, no_counters},
    {Id::cycles, is_command, [](const Context& c) { return whole(c.outcome.command.hardware.cycles); }, no_counters},
    {Id::live_bytes_end, counts_command, command_allocations<&trace::Counts::live_bytes_end>, not_counted},
});

// Does not compile where a metric has no row, or two.
consteval std::array<Extractor, model::metric_count> rows_by_metric()
{
    std::array<Extractor, model::metric_count> ordered{};
    for (const Extractor& row : rows) {
        Extractor& place = ordered.at(model::index_of(row.metric));
        if (place.value != nullptr) {
            throw "two rows for one metric";
        }
        place = row;
    }
    if (rows.size() != ordered.size()) {
        throw "a metric without a row";
    }
    return ordered;
}

constexpr std::array extractors = rows_by_metric();

}  // namespace

const Extractor& extractor_of(model::MetricId metric)
{
    return extractors[model::index_of(metric)];
}

}  // namespace memsweep::engine
