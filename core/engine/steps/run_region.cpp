#include "core/engine/steps/run_region.hpp"

#include <algorithm>
#include <new>

#include <unistd.h>

namespace memsweep::engine {
namespace {

using base::ErrorCode;
using base::fail;

// Changes with every change of the records above, so that a worker of another build is refused.
constexpr std::uint64_t region_magic =
    0x6D656D7377703032ULL ^ (sizeof(RunHeader) << 32) ^ sizeof(Instruction) ^ (sizeof(PointRecord) << 16);

constexpr std::uint64_t aligned(std::uint64_t offset)
{
    return (offset + 63) & ~std::uint64_t{63};
}

// visit(section, its view) for all of them, in the order in which they lie.
template <typename Order, typename Visit>
void each_section(Order& order, RunRegion& region, const Visit& visit)
{
    visit(order.instructions, region.instructions);
    visit(order.slots, region.slots);
    visit(order.slot_records, region.slot_records);
    visit(order.phases, region.phases);
    visit(order.points, region.points);
    visit(order.call_times, region.call_times_ns);
    visit(order.allocator, region.allocator);
    visit(order.replays, region.replays);
    visit(order.call_counts, region.call_counts);
    visit(order.transfers, region.transfers);
}

tl::unexpected<base::Error> foreign_region()
{
    return fail(ErrorCode::invalid_input, "the run region was not written by this build of memsweep");
}

}  // namespace

base::Expected<sys::SharedRegion> make_run_region(const CompiledCase& compiled, const RunLimits& limits)
{
    const StepProgram& program = compiled.steps();
    RunOrder order{.magic = region_magic,
                   .terms = program,
                   .measure_fault_cost = limits.measure_fault_cost,
                   .drain_first = limits.drain_first};
    order.instructions.count = program.instructions.size();
    order.slots.count = program.slots.size();
    order.slot_records.count = program.slots.size();
    order.phases.count = program.phase_names.size();
    order.points.count = program.points;
    order.call_times.count = program.timed_calls;
    order.allocator.count = compiled.allocator.name.empty() ? 0 : 1;
    order.replays.count = program.replays.size();
    order.call_counts.count = program.times_calls ? 1 : 0;
    order.transfers.count = program.transfers.size();
    RunRegion views;
    order.size_bytes = sizeof(RunHeader);
    each_section(order, views, [&order]<typename T>(Section& section, const std::span<T>& /*view*/) {
        section.offset = aligned(order.size_bytes);
        order.size_bytes = section.offset + section.count * sizeof(T);
    });

    auto shared = MEMSWEEP_TRY(sys::SharedRegion::create(order.size_bytes, "memsweep-run"));
    (new (shared.data<std::byte>()) RunHeader{})->order = order;
    const RunRegion region = MEMSWEEP_TRY(parse_run_region(shared));
    std::ranges::copy(program.instructions, region.instructions.begin());
    std::ranges::transform(program.replays, region.replays.begin(), [](const PackedTrace& packed) {
        return ReplayPlace{::getpid(), packed->fd()};
    });
    std::ranges::copy(program.transfers, region.transfers.begin());
    std::ranges::copy(program.slots, region.slots.begin());
    return shared;
}

base::Expected<RunRegion> parse_run_region(const sys::SharedRegion& region)
{
    const std::uint64_t size = region.size();
    RunRegion views{.header = region.data<RunHeader>()};
    if (size < sizeof(RunHeader) || views.header->order.magic != region_magic) {
        return foreign_region();
    }
    const RunOrder& order = views.header->order;
    bool fits = order.transfers.count <= max_transfer_steps;
    each_section(order, views, [&]<typename T>(const Section& section, std::span<T>& view) {
        fits = fits && section.offset <= size && section.count <= (size - section.offset) / sizeof(T);
        view = {reinterpret_cast<T*>(region.data<std::byte>() + section.offset), section.count};
    });
    return fits ? base::Expected<RunRegion>{views} : foreign_region();
}

}  // namespace memsweep::engine
