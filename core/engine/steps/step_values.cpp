#include "core/engine/steps/step_metrics.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace memsweep::engine::values {
namespace {

// Minor faults of the timed steps by what they cost.
struct FaultKinds {
    double small{}, huge{};           // private: base pages, huge pages
    double shared{}, shared_again{};  // shared: made, and found in the page cache
};

// Shared memory faults once for each page it has anew, and again for each that a trim took. Private memory that has
// more new pages than it took faults has huge ones among them.
FaultKinds fault_kinds(const StepContext& context, std::uint64_t minor_faults, const Costs& costs)
{
    const StepRecord& record = context.measured.record;
    const auto faults = static_cast<double>(minor_faults);
    const double fresh_pages =
        static_cast<double>(std::max(costs.pages_touched, costs.allocated_bytes / context.pages.bytes));
    if (context.work.memory.resource == model::ResourceKind::shm) {
        return {.shared_again = faults};  // it is reserved, so that its pages are in the page cache
    }
    if (context.work.memory.resource == model::ResourceKind::memfd) {
        const double first = std::min(faults, fresh_pages);
        return {.shared = first, .shared_again = faults - first};
    }
    if (record.fault_costs.huge_page <= 0 || fresh_pages <= faults) {
        return {.small = faults};
    }
    const auto pages_per_huge =
        static_cast<double>(context.pages.huge_bytes) / static_cast<double>(context.pages.bytes);
    const double huge = std::min(faults, (fresh_pages - faults) / (pages_per_huge - 1));
    return {.small = faults - huge, .huge = huge};
}

}  // namespace

Value faults_over_expected(const StepContext& context)
{
    const StepRecord& record = context.measured.record;
    if (context.measured.points.empty() || context.pages.huge_bytes == 0) {
        return std::nullopt;
    }
    const PointRecord& last = context.measured.points.back();
    if (last.live_bytes != record.allocated_bytes || record.array_counts.pages_touched == 0) {
        return std::nullopt;
    }
    const double huge_pages = difference(last.huge_page_bytes, record.baseline_huge_page_bytes) /
                              static_cast<double>(context.pages.huge_bytes);
    const double pages_per_huge =
        static_cast<double>(context.pages.huge_bytes) / static_cast<double>(context.pages.bytes);
    const double expected =
        huge_pages + static_cast<double>(record.array_counts.pages_touched) - huge_pages * pages_per_huge;
    return expected > 0 ? Value{static_cast<double>(last.minor_faults) / expected} : std::nullopt;
}

Value pool_hit_rate(const StepContext& context)
{
    const lifetime::DisciplineStats& kept = context.measured.record.discipline;
    const memory::PoolStats& pool = context.measured.record.pool;
    const bool pooled = context.work.memory.pool.kind != model::PoolKind::none;
    const std::uint64_t hits = kept.cache_hits + pool.hits();
    const std::uint64_t made = hits + (pooled ? pool.misses + pool.bypasses : kept.cache_misses);
    return made == 0 ? Value{} : static_cast<double>(hits) / static_cast<double>(made);
}

Value pool_waste(const StepContext& context)
{
    const memory::PoolStats& pool = context.measured.record.pool;
    return pool.served_bytes == 0
               ? Value{}
               : 1 - static_cast<double>(pool.requested_bytes) / static_cast<double>(pool.served_bytes);
}

Value fragmentation(const StepContext& context)
{
    const double found = context.measured.record.fragmentation;
    return found < 0 ? Value{} : Value{found};
}

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

Value fault_time_of(const StepContext& context, std::uint64_t minor_faults, const Costs& spent)
{
    const FaultCosts& costs = context.measured.record.fault_costs;
    const FaultKinds kinds = fault_kinds(context, minor_faults, spent);
    const bool known = (kinds.small == 0 || costs.small_page > 0) && (kinds.huge == 0 || costs.huge_page > 0) &&
                       (kinds.shared == 0 || costs.shared_page > 0) &&
                       (kinds.shared_again == 0 || costs.shared_again > 0);
    return known ? Value{kinds.small * costs.small_page + kinds.huge * costs.huge_page +
                         kinds.shared * costs.shared_page + kinds.shared_again * costs.shared_again}
                 : std::nullopt;
}

Value fault_time(const StepContext& context)
{
    return fault_time_of(context, context.measured.record.minor_faults, context.measured.record.costs);
}

Value other_time(const StepContext& context)
{
    const StepRecord& record = context.measured.record;
    const Value faults = fault_time(context);
    return faults ? Value{seconds(record.wall_ns) - *faults - seconds(record.costs.allocator_ns) -
                          seconds(record.costs.wait_ns) - seconds(record.costs.run_delay_ns)}
                  : std::nullopt;
}

}  // namespace memsweep::engine::values
