#include "core/engine/metric_table.hpp"

#include <algorithm>
#include <array>

#include "core/base/assert.hpp"
#include "core/engine/metric_scope.hpp"

namespace memsweep::engine {
namespace {

using namespace scope;
using namespace values;

constexpr std::string_view no_replay = "no event was replayed";
constexpr std::string_view not_sampled = "the case takes no sample of this name";
constexpr std::string_view no_time = "the clock showed no time for it";
constexpr std::string_view no_transfer = "no transfer was completed";
constexpr std::string_view no_cost = "not measured beside this repetition";
constexpr std::string_view none_freed = "nothing that was dropped was freed in this repetition";
constexpr std::string_view no_operation = "no array was allocated in the timed steps, and no call was timed";

constexpr auto extractors = std::to_array<Extractor>({
    {"wall_time", always, [](const Context& c) -> Value { return seconds(c.outcome.record.wall_ns); }, ""},
    {"cpu_time", always, [](const Context& c) -> Value { return seconds(c.outcome.record.cpu_ns); }, ""},
    {"time_per_op", makes_arrays,
     [](const Context& c) {
         return calls(c.program) ? upper_middle(c.outcome.call_times_ns)
                                 : per_array(seconds(c.outcome.record.wall_ns), c.outcome.record.timed_arrays);
     },
     no_operation},
    {"call_time_min", calls,
     [](const Context& c) {
         const auto& times = c.outcome.call_times_ns;
         return times.empty() ? Value{} : seconds(std::ranges::min(times));
     },
     no_operation},
    {"call_time_mean", calls, [](const Context& c) { return mean(c.outcome.call_times_ns); }, no_operation},
    {"call_time_max", calls,
     [](const Context& c) {
         const auto& times = c.outcome.call_times_ns;
         return times.empty() ? Value{} : seconds(std::ranges::max(times));
     },
     no_operation},
    {"working_set_peak", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.peak_working_set_bytes); }, ""},
    {"working_set_peak_delta", always,
     [](const Context& c) -> Value {
         return difference(c.outcome.record.peak_working_set_bytes, c.outcome.record.baseline_working_set_bytes);
     },
     ""},
    {"residual_working_set", always,
     [](const Context& c) -> Value {
         return difference(c.outcome.record.end_working_set_bytes, c.outcome.record.baseline_working_set_bytes);
     },
     ""},
    {"live_bytes_peak", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.live_bytes_peak); }, ""},
    {"floating_bytes_peak", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.discipline.floating_bytes_peak); }, ""},
    {"minor_faults", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.minor_faults); }, ""},
    {"major_faults", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.major_faults); }, ""},
    {"faults_per_op", makes_arrays,
     [](const Context& c) {
         const RepetitionRecord& record = c.outcome.record;
         return calls(c.program) ? per_array(static_cast<double>(record.call_minor_faults), record.calls)
                                 : per_array(static_cast<double>(record.minor_faults), record.timed_arrays);
     },
     no_operation},
    {"checksum_ok", calls,
     [](const Context& c) -> Value {
         const RepetitionRecord& record = c.outcome.record;
         return record.results_checked == 0 ? Value{} : record.results_wrong == 0 ? 1.0 : 0.0;
     },
     "no result was looked at"},
    {"allocations", always, [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.arrays); }, ""},
    {"allocated_bytes", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.allocated_bytes); }, ""},
    {"pages_touched", always,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.pages_touched); }, ""},
    {"faults_over_expected", maps_pages, faults_over_expected,
     "the known answer holds only while nothing was released before the last sample"},
    {"collections", collects,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.discipline.collections); }, ""},
    {"drain_time", drains, [](const Context& c) -> Value { return seconds(c.outcome.record.drain_ns); }, ""},
    {"queue_depth_peak", queues,
     [](const Context& c) -> Value { return static_cast<double>(c.outcome.record.discipline.queue_depth_peak); }, ""},
    {"release_latency", delays,
     [](const Context& c) { return waited(c, c.outcome.record.discipline.release_latency.median_ns); }, none_freed},
    {"release_latency_p95", delays,
     [](const Context& c) { return waited(c, c.outcome.record.discipline.release_latency.p95_ns); }, none_freed},
    {"release_latency_max", delays,
     [](const Context& c) { return waited(c, c.outcome.record.discipline.release_latency.max_ns); }, none_freed},
    {"gc_pause_time", collects, [](const Context& c) { return nanoseconds(c.outcome.record.discipline.pause_ns); }, ""},
    {"gc_pause_max", collects, [](const Context& c) { return nanoseconds(c.outcome.record.discipline.pause_max_ns); },
     ""},
    {"gc_avoided", spares_collections,
     [](const Context& c) { return count(c.outcome.record.discipline.collections_avoided); }, ""},
    {"freed_early", frees_by_hand, [](const Context& c) { return count(c.outcome.record.discipline.freed_early); }, ""},
    {"finalizers_registered", queues,
     [](const Context& c) { return count(c.outcome.record.discipline.finalizers_registered); }, ""},
    {"reserve_sleeps", capped, [](const Context& c) { return count(c.outcome.record.discipline.stalls); }, ""},
    {"reserve_sleep_time", capped, [](const Context& c) { return nanoseconds(c.outcome.record.discipline.stall_ns); },
     ""},
    {"arena_bytes", bumps, [](const Context& c) { return count(c.outcome.record.discipline.bumped_bytes); }, ""},
    {"arena_slabs", is_arena, [](const Context& c) { return count(c.outcome.record.discipline.slabs); }, ""},
    {"arena_escapes", is_arena, [](const Context& c) { return count(c.outcome.record.discipline.escapes); }, ""},
    {"pool_hit_rate", keeps_or_pools, pool_hit_rate, "no array was made"},
    {"pool_thread_hits", pools, [](const Context& c) { return count(c.outcome.record.pool.thread_hits); }, ""},
    {"pool_depot_hits", pools, [](const Context& c) { return count(c.outcome.record.pool.depot_hits); }, ""},
    {"pool_common_hits", pools, [](const Context& c) { return count(c.outcome.record.pool.common_hits); }, ""},
    {"pool_misses", pools, [](const Context& c) { return count(c.outcome.record.pool.misses); }, ""},
    {"pool_bypasses", pools, [](const Context& c) { return count(c.outcome.record.pool.bypasses); }, ""},
    {"pool_waste", pools, pool_waste, "the pool served nothing"},
    {"pool_held_peak", pools, [](const Context& c) { return count(c.outcome.record.pool.held_bytes_peak); }, ""},
    {"pool_evictions", pools, [](const Context& c) { return count(c.outcome.record.pool.evictions); }, ""},
    {"pool_released_bytes", pools, [](const Context& c) { return count(c.outcome.record.pool.released_bytes); }, ""},
    {"pool_trim_time", pools, [](const Context& c) { return nanoseconds(c.outcome.record.pool.trim_ns); }, ""},
    {"pool_passes", maintains, [](const Context& c) { return count(c.outcome.record.pool.passes); }, ""},
    {"pool_short_blocks", pools, [](const Context& c) { return count(c.outcome.record.pool.short_blocks); }, ""},
    {"fragmentation", pools, fragmentation, "nothing lay idle in the pool at any sample"},
    {"outstanding", always, [](const Context& c) { return count(c.outcome.record.outstanding); }, ""},
    {"checksum", reads, [](const Context& c) { return count(c.outcome.record.checksum); }, ""},
    {"use_after_free", looks_for_uses, [](const Context& c) { return count(total(c, &SlotRecord::uses_after_free)); },
     ""},
    {"double_frees", frees_by_hand, [](const Context& c) { return count(total(c, &SlotRecord::double_frees)); }, ""},
    {"stray_releases", always, [](const Context& c) { return count(c.outcome.record.stray_releases); }, ""},
    {"fault_cost", always,
     [](const Context& c) { return cost(c.outcome.record.fault_costs.small_page); }, no_cost},
    {"huge_fault_cost", may_have_huge_pages,
     [](const Context& c) { return cost(c.outcome.record.fault_costs.huge_page); }, no_cost},
    {"shared_fault_cost", is_shared, [](const Context& c) { return cost(c.outcome.record.fault_costs.shared_page); },
     no_cost},
    {"refault_cost", is_shared, [](const Context& c) { return cost(c.outcome.record.fault_costs.shared_again); },
     no_cost},
    {"trims", trims, [](const Context& c) { return count(c.outcome.record.trims); }, ""},
    {"trimmed_bytes", trims,
     [](const Context& c) -> Value {
         const RepetitionRecord& record = c.outcome.record;
         return record.trims_refused == 0 ? count(record.trimmed_bytes) : std::nullopt;
     },
     "the kernel refused a trim"},
    {"prefetched_bytes", prefetches,
     [](const Context& c) -> Value {
         const RepetitionRecord& record = c.outcome.record;
         return record.prefetches_refused == 0 ? count(record.prefetched_bytes) : std::nullopt;
     },
     "the kernel refused a prefetch"},
    {"migrated_bytes", migrates, [](const Context& c) { return count(c.outcome.record.migrated_bytes); }, ""},
    {"unmoved_bytes", migrates, [](const Context& c) { return count(c.outcome.record.unmoved_bytes); }, ""},
    {"streamed_bytes", streams, [](const Context& c) { return count(c.outcome.record.streamed_bytes); }, ""},
    {"stream_bandwidth", streams,
     [](const Context& c) { return per_second(c.outcome.record.streamed_bytes, c.outcome.record.stream_ns); },
     no_time},
    {"shared_bytes", shares, [](const Context& c) { return count(c.outcome.record.shared_bytes); }, ""},
    {"share_wrong_bytes", shares, [](const Context& c) { return count(c.outcome.record.shared_wrong_bytes); }, ""},
    {"share_bandwidth", shares,
     [](const Context& c) { return per_second(c.outcome.record.shared_bytes, c.outcome.record.share_read_ns); },
     no_time},
    {"share_latency", shares, [](const Context& c) -> Value { return seconds(c.outcome.record.share_turn_ns); }, ""},
    {"time_per_transfer", transfers,
     [](const Context& c) { return per_array(seconds(moved(c).wall_ns), moved(c).all_transfers()); }, no_transfer},
    {"transfer_wrong_bytes", transfers, [](const Context& c) { return count(moved(c).wrong_bytes); }, ""},
    {"transfer_copies", transfers, [](const Context& c) { return count(moved(c).copies); }, ""},
    {"staged_bytes", may_stage, [](const Context& c) { return count(moved(c).staged_bytes); }, ""},
    {"transfer_retries", transfers, [](const Context& c) { return count(moved(c).retries); }, ""},
    {"transfer_memory_time", transfers, [](const Context& c) -> Value { return seconds(moved(c).memory_ns); }, ""},
    {"transfer_register_time", registers, [](const Context& c) -> Value { return seconds(moved(c).register_ns); }, ""},
    {"transfer_wait_time", transfers, [](const Context& c) -> Value { return seconds(moved(c).wait_ns); }, ""},
    {"transfer_overlap", may_stage, [](const Context& c) -> Value { return moved(c).overlap(); },
     "nothing was staged between host and device, or the device tells no time"},
    {"transfers_at_once", transfers, [](const Context& c) -> Value { return moved(c).average_at_once(); },
     no_transfer},
    {"concurrency_benefit", transfers, [](const Context& c) -> Value { return moved(c).concurrency_benefit(); },
     no_transfer},
    {"pinned_bytes_peak", transfers, [](const Context& c) { return count(moved(c).pinned_bytes_peak); }, ""},
    {"passed_arrays", passes, [](const Context& c) { return count(c.outcome.record.passed_arrays); }, ""},
    {"operations", makes_arrays, [](const Context& c) {
         const RepetitionRecord& record = c.outcome.record;
         return count(calls(c.program) ? record.calls : record.timed_arrays);
     }, ""},
    {"time_per_event", replays,
     [](const Context& c) {
         const ReplayRecord& replay = c.outcome.record.replay;
         return per_array(seconds(replay.thread_ns), replay.events);
     },
     no_replay},
    {"dispatch_per_event", replays,
     [](const Context& c) {
         const ReplayRecord& replay = c.outcome.record.replay;
         return per_array(seconds(replay.dispatch_ns), replay.dispatch_events);
     },
     no_replay},
    {"events", replays, [](const Context& c) { return count(c.outcome.record.replay.events); }, ""},
    {"transferred_bytes", replays_or_transfers,
     [](const Context& c) {
         return count(c.outcome.record.replay.transferred_bytes + moved(c).all_bytes());
     },
     ""},
    {"retained_0s", replays, [](const Context& c) { return retained(c, "retained_0s"); }, not_sampled},
    {"retained_100ms", replays, [](const Context& c) { return retained(c, "retained_100ms"); }, not_sampled},
    {"retained_1s", replays, [](const Context& c) { return retained(c, "retained_1s"); }, not_sampled},
    {"retained_5s", replays, [](const Context& c) { return retained(c, "retained_5s"); }, not_sampled},
    {"retained_trimmed", replays, [](const Context& c) { return retained(c, "retained_trimmed"); }, not_sampled},
    {"realized_fragmentation", replays_touched, realized_fragmentation, "nothing was live"},
    {"allocate_time_p50", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::allocate, 0.5); }, no_replay},
    {"allocate_time_p99", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::allocate, 0.99); }, no_replay},
    {"allocate_time_max", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::allocate, 1); }, no_replay},
    {"release_time_p50", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::release, 0.5); }, no_replay},
    {"release_time_p99", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::release, 0.99); }, no_replay},
    {"release_time_max", times_calls,
     [](const Context& c) { return call_time(c, trace::CallKind::release, 1); }, no_replay},
    {"fault_time", always, fault_time, no_cost},
    {"bandwidth", transfers, [](const Context& c) -> Value { return moved(c).aggregate_rate(); }, no_time},
    {"payload_bandwidth", never, no_value, ""},
    {"bus_bandwidth", never, no_value, ""},
    {"ceiling_share", never, no_value, ""},
    {"latency", never, no_value, ""},
    {"time_per_fault", never, no_value, ""},
    {"allocator_time", always, [](const Context& c) { return nanoseconds(c.outcome.record.costs.allocator_ns); }, ""},
    {"collector_wait_time", waits, [](const Context& c) { return nanoseconds(c.outcome.record.costs.wait_ns); }, ""},
    {"run_delay_time", always,
     [](const Context& c) -> Value {
         const RepetitionRecord& record = c.outcome.record;
         return record.knows_run_delay ? nanoseconds(record.costs.run_delay_ns) : std::nullopt;
     },
     "this kernel keeps no /proc/PID/schedstat"},
    {"other_time", always, other_time, no_cost},
});

}  // namespace

const Extractor& extractor_of(std::string_view metric)
{
    const auto found = std::ranges::find(extractors, metric, &Extractor::metric);
    MEMSWEEP_ASSERT(found != extractors.end(), "every declared metric has an extractor");
    return *found;
}

}  // namespace memsweep::engine
