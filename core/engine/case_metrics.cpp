#include "core/engine/case_metrics.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>

#include "core/base/assert.hpp"
#include "core/engine/call_time_report.hpp"
#include "core/measure/summary.hpp"

namespace memsweep::engine {
namespace {

struct Context {
    const Program& program;
    const Outcome& outcome;
    std::uint64_t page_bytes;
    std::uint64_t huge_page_bytes;
};

using Value = std::optional<double>;

double seconds(std::int64_t ns)
{
    return static_cast<double>(ns) * 1e-9;
}

double difference(std::uint64_t a, std::uint64_t b)
{
    return static_cast<double>(a) - static_cast<double>(b);
}

Value per_array(double total, std::uint64_t arrays)
{
    return arrays == 0 ? Value{} : total / static_cast<double>(arrays);
}

// The known answer: one fault per huge page, one per base page of the rest. Only while nothing was released, since
// memory used twice faults once.
Value faults_over_expected(const Context& context)
{
    const RepetitionRecord& record = context.outcome.record;
    if (context.outcome.points.empty() || context.huge_page_bytes == 0) {
        return std::nullopt;
    }
    const PointRecord& last = context.outcome.points.back();
    if (last.live_bytes != record.allocated_bytes || record.pages_touched == 0) {
        return std::nullopt;
    }
    const double huge_pages = difference(last.huge_page_bytes, record.baseline_huge_page_bytes) /
                              static_cast<double>(context.huge_page_bytes);
    const double pages_per_huge =
        static_cast<double>(context.huge_page_bytes) / static_cast<double>(context.page_bytes);
    const double expected = huge_pages + static_cast<double>(record.pages_touched) - huge_pages * pages_per_huge;
    return expected > 0 ? Value{static_cast<double>(last.minor_faults) / expected} : std::nullopt;
}

Value count(std::uint64_t value)
{
    return static_cast<double>(value);
}

Value nanoseconds(std::uint64_t ns)
{
    return static_cast<double>(ns) * 1e-9;
}

const transfer::TransferStatistics& moved(const Context& context)
{
    return context.outcome.record.transfers.statistics;
}

Value waited(const Context& context, std::uint64_t ns)
{
    return context.outcome.record.discipline.release_latency.count == 0 ? std::nullopt : nanoseconds(ns);
}

// What a discipline does not keep it asks the pool for; what neither keeps comes from the resource.
Value pool_hit_rate(const Context& context)
{
    const lifetime::DisciplineStats& kept = context.outcome.record.discipline;
    const memory::PoolStats& pool = context.outcome.record.pool;
    const bool pooled = context.program.memory.pool.kind != model::PoolKind::none;
    const std::uint64_t hits = kept.cache_hits + pool.hits();
    const std::uint64_t made = hits + (pooled ? pool.misses + pool.bypasses : kept.cache_misses);
    return made == 0 ? Value{} : static_cast<double>(hits) / static_cast<double>(made);
}

Value pool_waste(const Context& context)
{
    const memory::PoolStats& pool = context.outcome.record.pool;
    return pool.served_bytes == 0
               ? Value{}
               : 1 - static_cast<double>(pool.requested_bytes) / static_cast<double>(pool.served_bytes);
}

Value retained(const Context& context, std::string_view sample)
{
    for (const PointRecord& point : context.outcome.points) {
        if (context.program.sample_names[point.name] == sample && point.working_set_bytes != 0) {
            return difference(point.working_set_bytes, context.outcome.record.baseline_working_set_bytes);
        }
    }
    return std::nullopt;
}

Value realized_fragmentation(const Context& context)
{
    const RepetitionRecord& record = context.outcome.record;
    const double used = difference(record.peak_working_set_bytes, record.baseline_working_set_bytes);
    return record.live_bytes_peak == 0 ? Value{} : used / static_cast<double>(record.live_bytes_peak) - 1;
}

// The lower edge of the step that holds the call which so large a share of the calls are no slower than.
Value call_time(const Context& context, trace::CallKind kind, double share)
{
    if (context.outcome.call_counts == nullptr) {
        return std::nullopt;
    }
    std::array<std::uint64_t, trace::call_time_steps> steps{};
    for (const auto& sizes : context.outcome.call_counts->counts[static_cast<std::size_t>(kind)]) {
        std::ranges::transform(steps, sizes, steps.begin(), std::plus{});
    }
    const auto total = static_cast<double>(std::reduce(steps.begin(), steps.end()));
    double seen = 0;
    for (std::size_t step = 0; step < steps.size() && total > 0; ++step) {
        seen += static_cast<double>(steps[step]);
        if (steps[step] != 0 && seen >= share * total) {
            const auto ticks = static_cast<double>(trace::CallTimeCounts::ticks_of(step));
            return ticks * context.outcome.record.replay.ns_per_tick * 1e-9;
        }
    }
    return std::nullopt;
}

Value fragmentation(const Context& context)
{
    const double found = context.outcome.record.fragmentation;
    return found < 0 ? Value{} : Value{found};
}

std::uint64_t total(const Context& context, std::uint64_t SlotRecord::*field)
{
    std::uint64_t sum = 0;
    for (const SlotRecord& slot : context.outcome.slots) {
        sum += slot.*field;
    }
    return sum;
}

// As the original sweep takes it: the upper of the two middle ones where their number is even.
Value upper_middle(std::vector<std::int64_t> times_ns)
{
    if (times_ns.empty()) {
        return std::nullopt;
    }
    const auto middle = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 2);
    std::ranges::nth_element(times_ns, middle);
    return seconds(*middle);
}

Value mean(const std::vector<std::int64_t>& times_ns)
{
    const auto total = std::reduce(times_ns.begin(), times_ns.end(), std::int64_t{0});
    return per_array(seconds(total), times_ns.size());
}

// Minor faults of the timed steps by what they cost.
struct FaultKinds {
    double small{}, huge{};           // private: base pages, huge pages
    double shared{}, shared_again{};  // shared: made, and found in the page cache
};

// Shared memory faults once for each page it has anew, and again for each that a trim took. Private memory that has
// more new pages than it took faults has huge ones among them.
FaultKinds fault_kinds(const Context& context, std::uint64_t minor_faults, const Costs& costs)
{
    const RepetitionRecord& record = context.outcome.record;
    const auto faults = static_cast<double>(minor_faults);
    const double fresh_pages =
        static_cast<double>(std::max(costs.pages_touched, costs.allocated_bytes / context.page_bytes));
    if (context.program.memory.resource == model::ResourceKind::memfd) {
        const double first = std::min(faults, fresh_pages);
        return {.shared = first, .shared_again = faults - first};
    }
    if (record.fault_costs.huge_page <= 0 || fresh_pages <= faults) {
        return {.small = faults};
    }
    const auto pages_per_huge = static_cast<double>(context.huge_page_bytes) / static_cast<double>(context.page_bytes);
    const double huge = std::min(faults, (fresh_pages - faults) / (pages_per_huge - 1));
    return {.small = faults - huge, .huge = huge};
}

Value fault_time_of(const Context& context, std::uint64_t minor_faults, const Costs& spent)
{
    const FaultCosts& costs = context.outcome.record.fault_costs;
    const FaultKinds kinds = fault_kinds(context, minor_faults, spent);
    const bool known = (kinds.small == 0 || costs.small_page > 0) && (kinds.huge == 0 || costs.huge_page > 0) &&
                       (kinds.shared == 0 || costs.shared_page > 0) &&
                       (kinds.shared_again == 0 || costs.shared_again > 0);
    return known ? Value{kinds.small * costs.small_page + kinds.huge * costs.huge_page +
                         kinds.shared * costs.shared_page + kinds.shared_again * costs.shared_again}
                 : std::nullopt;
}

Value fault_time(const Context& context)
{
    return fault_time_of(context, context.outcome.record.minor_faults, context.outcome.record.costs);
}

Value other_time(const Context& context)
{
    const RepetitionRecord& record = context.outcome.record;
    const Value faults = fault_time(context);
    return faults ? Value{seconds(record.wall_ns) - *faults - nanoseconds(record.costs.allocator_ns).value_or(0) -
                          nanoseconds(record.costs.wait_ns).value_or(0) -
                          nanoseconds(record.costs.run_delay_ns).value_or(0)}
                  : std::nullopt;
}

Value cost(double seconds)
{
    return seconds > 0 ? Value{seconds} : std::nullopt;
}

struct Extractor {
    std::string_view metric;
    bool (*applies)(const Program&);
    Value (*value)(const Context&);
    std::string_view absent;  // why a value can be missing
};

bool always(const Program& /*program*/)
{
    return true;
}

// Of what `probe` measures, not the steps of a scenario.
bool never(const Program& /*program*/)
{
    return false;
}

Value no_value(const Context& /*context*/)
{
    return std::nullopt;
}

bool has_op(const Program& program, OpCode op)
{
    return std::ranges::any_of(program.instructions, [op](const Instruction& one) { return one.op == op; });
}

bool is_arena(const Program& program)
{
    using model::ReleaseMode;
    const ReleaseMode mode = program.release.mode;
    return mode == ReleaseMode::arena || mode == ReleaseMode::arena_autoscale || mode == ReleaseMode::arena_checked;
}

bool makes_arrays(const Program& program)
{
    return program.arrays != 0;
}

bool calls(const Program& program)
{
    return has_op(program, OpCode::concat);
}

bool drains(const Program& program)
{
    return has_op(program, OpCode::drain);
}

// Whether a thread of its own frees what a collection has found.
bool queues(const Program& program)
{
    using model::Fallback;
    using model::ReleaseMode;
    const model::ReleaseSpec& release = program.release;
    const bool fallback = release.fallback == Fallback::finalizer || release.fallback == Fallback::cleaner;
    return release.mode == ReleaseMode::finalizer || release.mode == ReleaseMode::cleaner ||
           (model::frees_manually(release) && fallback);
}

bool keeps(const Program& program)
{
    using model::ReleaseMode;
    const ReleaseMode mode = program.release.mode;
    return mode == ReleaseMode::pool || mode == ReleaseMode::preallocated || mode == ReleaseMode::tls_cache ||
           mode == ReleaseMode::forward;
}

bool pools(const Program& program)
{
    return program.memory.pool.kind != model::PoolKind::none;
}

bool keeps_or_pools(const Program& program)
{
    return keeps(program) || pools(program);
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
    return has_op(program, OpCode::read) || has_op(program, OpCode::stream);
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

bool trims(const Program& program)
{
    return has_op(program, OpCode::trim) || program.memory.trim.above_bytes != 0;
}

bool prefetches(const Program& program)
{
    return has_op(program, OpCode::prefetch);
}

bool migrates(const Program& program)
{
    return has_op(program, OpCode::migrate);
}

bool streams(const Program& program)
{
    return has_op(program, OpCode::stream);
}

bool shares(const Program& program)
{
    return has_op(program, OpCode::share);
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

bool passes(const Program& program)
{
    return has_op(program, OpCode::pass);
}

bool waits(const Program& program)
{
    return model::is_collected(program.release) || drains(program) || has_op(program, OpCode::collect);
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

Value per_second(std::uint64_t bytes, std::int64_t ns)
{
    return ns <= 0 ? Value{} : static_cast<double>(bytes) / seconds(ns);
}

bool times_calls(const Program& program)
{
    return program.times_calls;
}

bool replays(const Program& program)
{
    return has_op(program, OpCode::replay);
}

// Whether what is live is resident, so that what is resident beyond it is the allocator's doing.
bool replays_touched(const Program& program)
{
    return std::ranges::any_of(program.instructions, [](const Instruction& one) {
        return one.op == OpCode::replay && one.replay_touch != model::ReplayTouch::none;
    });
}

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

const Extractor& extractor_of(std::string_view metric)
{
    const auto found = std::ranges::find(extractors, metric, &Extractor::metric);
    MEMSWEEP_ASSERT(found != extractors.end(), "every declared metric has an extractor");
    return *found;
}

// Whether a finalizer's thread races the counters decides whether they repeat to the last digit.
model::MetricClass class_of(const model::MetricInfo& info, const Program& program)
{
    const bool racing = queues(program) && (info.name == "live_bytes_peak" || info.name == "floating_bytes_peak" ||
                                            info.name == "outstanding");
    const bool timed_trigger =
        program.release.target.initial != 0 || program.release.pressure.rule != model::PressureRule::none;
    const bool follows_time = timed_trigger && (info.name == "collections" || info.name == "floating_bytes_peak" ||
                                                info.name == "live_bytes_peak" || info.name == "outstanding");
    return racing || follows_time ? model::MetricClass::noisy : info.metric_class;
}

// Under a profile collections come when a rule says so, and pause the program as long as it says.
model::Provenance provenance_of(const model::MetricInfo& info, const Program& program)
{
    const bool by_rule = info.name == "collections" || info.name == "gc_pause_time" || info.name == "gc_pause_max" ||
                         info.name == "reserve_sleeps" || info.name == "reserve_sleep_time" ||
                         info.name == "collector_wait_time";
    return program.release.modelled && by_rule ? model::Provenance::modelled : info.provenance;
}

// What the slots say is wrong. Only what nobody will ever free is a leak: collectors and open arenas still may.
void append_defects(const Program& program, const Outcome& outcome, std::uint32_t repetition, model::CaseReport& report)
{
    using model::DefectKind;
    const bool loses = model::frees_manually(program.release) && !model::is_collected(program.release);
    const bool leaks = loses || outcome.record.discipline.skipped_restores != 0;
    for (std::size_t i = 0; i < outcome.slots.size(); ++i) {
        const SlotRecord& slot = outcome.slots[i];
        const auto add = [&](DefectKind kind, std::uint64_t count, std::uint64_t bytes = 0, std::int64_t age_ns = 0) {
            if (count != 0) {
                report.defects.push_back({kind, program.slot_names[i], repetition, count, bytes, seconds(age_ns)});
            }
        };
        add(DefectKind::use_after_free, slot.uses_after_free);
        add(DefectKind::double_free, slot.double_frees);
        add(DefectKind::aliased_free, slot.aliased_frees);
        add(DefectKind::stray_release, slot.stray_releases);
        add(DefectKind::overrun, slot.overruns);
        add(DefectKind::leak, leaks ? slot.unreleased : 0, slot.unreleased_bytes, slot.oldest_ns);
    }
}

void append_points(const Program& program, const Outcome& outcome, std::uint32_t repetition, model::CaseReport& report)
{
    const RepetitionRecord& record = outcome.record;
    for (const PointRecord& from : outcome.points) {
        model::Point point;
        point.repetition = repetition;
        point.name = program.sample_names[from.name];
        point.t = seconds(from.t_ns);
        point.live_bytes = static_cast<double>(from.live_bytes);
        point.floating_bytes = static_cast<double>(from.floating_bytes);
        point.minor_faults = static_cast<double>(from.minor_faults);
        point.major_faults = static_cast<double>(from.major_faults);
        point.queue_depth = static_cast<double>(from.queue_depth);
        if (keeps_or_pools(program)) {
            point.pool_idle_bytes = static_cast<double>(from.idle_bytes);
        }
        if (from.working_set_bytes != 0) {
            point.working_set = static_cast<double>(from.working_set_bytes);
            point.working_set_delta = difference(from.working_set_bytes, record.baseline_working_set_bytes);
            point.huge_page_bytes = difference(from.huge_page_bytes, record.baseline_huge_page_bytes);
        }
        report.points.push_back(std::move(point));
    }
}

void append_phases(const Context& context, std::uint32_t repetition, model::CaseReport& report)
{
    for (std::size_t i = 0; i < context.outcome.phases.size(); ++i) {
        const PhaseRecord& from = context.outcome.phases[i];
        if (from.entered != 0) {
            report.phases.push_back({repetition, context.program.phase_names[i], seconds(from.first_start_ns),
                                     seconds(from.last_end_ns), seconds(from.time_ns), from.entered, from.minor_faults,
                                     from.major_faults, fault_time_of(context, from.minor_faults, from.costs),
                                     nanoseconds(from.costs.allocator_ns),
                                     waits(context.program) ? nanoseconds(from.costs.wait_ns) : Value{}});
        }
    }
}

}  // namespace

void declare_metrics(const Program& program, model::CaseReport& report)
{
    for (const model::MetricInfo& info : model::metric_catalog()) {
        if (extractor_of(info.name).applies(program)) {
            model::Metric metric;
            metric.name = info.name;
            metric.unit = info.unit;
            metric.better = info.better;
            metric.metric_class = class_of(info, program);
            metric.provenance = provenance_of(info, program);
            report.metrics.push_back(std::move(metric));
        }
    }
}

void append_repetition(const Program& program, const Outcome& outcome, std::uint64_t page_bytes,
                       std::uint64_t huge_page_bytes, model::CaseReport& report)
{
    const Context context{program, outcome, page_bytes, huge_page_bytes};
    for (model::Metric& metric : report.metrics) {
        const Extractor& extractor = extractor_of(metric.name);
        metric.values.push_back(extractor.value(context));
        if (!metric.values.back()) {
            metric.reason = extractor.absent;
        }
    }
    append_points(program, outcome, report.repetitions, report);
    append_phases(context, report.repetitions, report);
    append_defects(program, outcome, report.repetitions, report);
    append_call_times(outcome, report);
    for (model::Series series : outcome.series) {
        series.repetition = report.repetitions;
        report.series.push_back(std::move(series));
    }
    ++report.repetitions;
}

void summarize_metrics(model::CaseReport& report)
{
    for (model::Metric& metric : report.metrics) {
        metric.summary = measure::summarize(metric.values);
    }
}

}  // namespace memsweep::engine
