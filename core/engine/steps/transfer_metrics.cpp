#include <algorithm>
#include <string_view>

#include "core/engine/steps/step_metrics.hpp"

namespace memsweep::engine {
namespace {

using namespace values;
using Id = model::MetricId;
using Moved = transfer::TransferStatistics;

bool transfers(const StepProgram& program)
{
    return !program.transfers.empty();
}

bool replays_or_transfers(const StepProgram& program)
{
    return !program.replays.empty() || transfers(program);
}

// Whether some transfer may take its bytes through slots.
bool may_stage(const StepProgram& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        const bool wanted = plan.options.strategy == model::Strategy::automatic ||
                            plan.options.strategy == model::Strategy::staged ||
                            plan.options.strategy == model::Strategy::p2p;
        return wanted && std::any_of(plan.jobs.begin(), plan.jobs.begin() + static_cast<std::ptrdiff_t>(plan.count),
                                     [](const model::TransferJob& job) { return !model::is_on_host(job.spec); });
    });
}

bool registers(const StepProgram& program)
{
    return std::ranges::any_of(program.transfers, [](const TransferPlan& plan) {
        return plan.options.strategy == model::Strategy::registered;
    });
}

inline const transfer::TransferStatistics& moved(const StepContext& context)
{
    return field<&StepRecord::transfers, &TransferRecord::statistics>(context);
}

template <auto field_of_moved>
inline constexpr auto transferred = counted<&StepRecord::transfers, &TransferRecord::statistics, field_of_moved>;

template <auto field_of_moved>
inline constexpr auto transfer_time = timed<&StepRecord::transfers, &TransferRecord::statistics, field_of_moved>;

template <auto rate>
Value transfer_rate(const StepContext& context)
{
    return (moved(context).*rate)();
}

constexpr std::string_view no_transfer = "no transfer was completed";
constexpr std::string_view clock_showed_none = "the clock showed no time for it";

constexpr auto rows_of_transfers = each_metric_once(std::to_array<StepRow>({
    {Id::time_per_transfer, transfers,
     [](const StepContext& c) { return per_array(seconds(moved(c).wall_ns), moved(c).all_transfers()); }, no_transfer},
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
    {Id::transferred_bytes, replays_or_transfers,
     [](const StepContext& c) -> Value {
         return static_cast<double>(c.measured.record.replay.transferred_bytes + moved(c).all_bytes());
     }},
    {Id::bandwidth, transfers, transfer_rate<&Moved::aggregate_rate>, clock_showed_none},
}));

}  // namespace

std::span<const StepRow> transfer_rows()
{
    return rows_of_transfers;
}

}  // namespace memsweep::engine
