#include "core/engine/run_region.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <unistd.h>

namespace memsweep::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Changes with every change of the records above, so that a worker of another build is refused.
constexpr std::uint64_t region_magic =
    0x6D656D7377703031ULL ^ (sizeof(RunHeader) << 32) ^ sizeof(Instruction) ^ (sizeof(PointRecord) << 16);

constexpr std::uint64_t aligned(std::uint64_t offset)
{
    return (offset + 63) & ~std::uint64_t{63};
}

template <typename T>
std::span<T> view(const sys::SharedRegion& region, std::uint64_t offset, std::uint64_t count)
{
    return {reinterpret_cast<T*>(region.data<std::byte>() + offset), count};
}

bool fits(std::uint64_t offset, std::uint64_t count, std::uint64_t each, std::uint64_t size)
{
    return offset <= size && count <= (size - offset) / each;
}

tl::unexpected<base::Error> foreign_region()
{
    return fail(ErrorCode::invalid_input, "the run region was not written by this build of memsweep");
}

}  // namespace

base::Expected<sys::SharedRegion> make_run_region(const Program& program, const RunLimits& limits)
{
    RunOrder order{.magic = region_magic,
                   .memory = program.memory,
                   .release = program.release,
                   .reserved_blocks = program.reserved_blocks,
                   .estimate_bytes = program.estimate_bytes,
                   .memory_budget_bytes = program.memory_budget_bytes,
                   .required_devices = program.required_devices,
                   .marked = program.marked,
                   .measure_fault_cost = limits.measure_fault_cost,
                   .drain_first = limits.drain_first,
                   .instruction_count = program.instructions.size(),
                   .slot_count = program.slots.size(),
                   .phase_count = program.phase_names.size(),
                   .point_capacity = program.points,
                   .call_capacity = program.timed_calls};
    order.instructions_offset = aligned(sizeof(RunHeader));
    order.slots_offset = aligned(order.instructions_offset + order.instruction_count * sizeof(Instruction));
    order.slot_records_offset = aligned(order.slots_offset + order.slot_count * sizeof(Slot));
    order.phases_offset = aligned(order.slot_records_offset + order.slot_count * sizeof(SlotRecord));
    order.points_offset = aligned(order.phases_offset + order.phase_count * sizeof(PhaseRecord));
    order.calls_offset = aligned(order.points_offset + order.point_capacity * sizeof(PointRecord));
    order.allocator_offset = aligned(order.calls_offset + order.call_capacity * sizeof(std::int64_t));
    order.allocator_count = program.allocator.name.empty() ? 0 : 1;
    order.replay_count = program.replays.size();
    order.replays_offset = aligned(order.allocator_offset + order.allocator_count * sizeof(AllocatorRecord));
    order.call_counts_count = program.times_calls ? 1 : 0;
    order.call_counts_offset = aligned(order.replays_offset + order.replay_count * sizeof(ReplayPlace));
    order.transfer_count = program.transfers.size();
    order.transfers_offset =
        aligned(order.call_counts_offset + order.call_counts_count * sizeof(trace::CallTimeCounts));
    order.size_bytes = order.transfers_offset + order.transfer_count * sizeof(TransferPlan);

    auto region = sys::SharedRegion::create(order.size_bytes, "memsweep-run");
    if (!region) {
        return region;
    }
    (new (region->data<std::byte>()) RunHeader{})->order = order;
    std::ranges::copy(program.instructions,
                      view<Instruction>(*region, order.instructions_offset, order.instruction_count).begin());
    std::ranges::transform(program.replays,
                           view<ReplayPlace>(*region, order.replays_offset, order.replay_count).begin(),
                           [](const PackedTrace& packed) {
                               return ReplayPlace{::getpid(), packed->fd()};
                           });
    std::ranges::copy(program.transfers,
                      view<TransferPlan>(*region, order.transfers_offset, order.transfer_count).begin());
    std::ranges::copy(program.slots, view<Slot>(*region, order.slots_offset, order.slot_count).begin());
    return region;
}

base::Expected<RunRegion> parse_run_region(const sys::SharedRegion& region)
{
    const std::uint64_t size = region.size();
    auto* header = region.data<RunHeader>();
    if (size < sizeof(RunHeader) || header->order.magic != region_magic) {
        return foreign_region();
    }
    const RunOrder& order = header->order;
    if (!fits(order.instructions_offset, order.instruction_count, sizeof(Instruction), size) ||
        !fits(order.slots_offset, order.slot_count, sizeof(Slot), size) ||
        !fits(order.slot_records_offset, order.slot_count, sizeof(SlotRecord), size) ||
        !fits(order.phases_offset, order.phase_count, sizeof(PhaseRecord), size) ||
        !fits(order.points_offset, order.point_capacity, sizeof(PointRecord), size) ||
        !fits(order.calls_offset, order.call_capacity, sizeof(std::int64_t), size) ||
        !fits(order.allocator_offset, order.allocator_count, sizeof(AllocatorRecord), size) ||
        !fits(order.replays_offset, order.replay_count, sizeof(ReplayPlace), size) ||
        !fits(order.call_counts_offset, order.call_counts_count, sizeof(trace::CallTimeCounts), size) ||
        !fits(order.transfers_offset, order.transfer_count, sizeof(TransferPlan), size) ||
        order.transfer_count > max_transfer_steps) {
        return foreign_region();
    }
    return RunRegion{header,
                     view<Instruction>(region, order.instructions_offset, order.instruction_count),
                     view<Slot>(region, order.slots_offset, order.slot_count),
                     view<SlotRecord>(region, order.slot_records_offset, order.slot_count),
                     view<PhaseRecord>(region, order.phases_offset, order.phase_count),
                     view<PointRecord>(region, order.points_offset, order.point_capacity),
                     view<std::int64_t>(region, order.calls_offset, order.call_capacity),
                     view<AllocatorRecord>(region, order.allocator_offset, order.allocator_count),
                     view<ReplayPlace>(region, order.replays_offset, order.replay_count),
                     view<trace::CallTimeCounts>(region, order.call_counts_offset, order.call_counts_count),
                     view<TransferPlan>(region, order.transfers_offset, order.transfer_count)};
}

}  // namespace memsweep::engine
