#include "core/engine/executor.hpp"

#include "core/base/assert.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/engine/run_region.hpp"

namespace memsweep::engine {
namespace {

std::string refusal(const RepetitionRecord& record)
{
    const std::string what =
        record.refused_bytes == 0
            ? "an allocation"
            : fmt::format("an allocation of {}", base::format_size(static_cast<double>(record.refused_bytes)));
    const std::string live =
        record.refused_at_live_bytes == not_counted
            ? ""
            : fmt::format(" with {} live,", base::format_size(static_cast<double>(record.refused_at_live_bytes)));
    std::string text = fmt::format("{} was refused{} after {} arrays: {}", what, live,
                                   base::format_count(static_cast<double>(record.refused_after_arrays)),
                                   memory::describe(record.refused));
    if (record.discipline.stalls != 0) {
        text += fmt::format("; it had waited through {} sleeps, {} in all", record.discipline.stalls,
                            base::format_duration(static_cast<double>(record.discipline.stall_ns) * 1e-9));
    }
    return text;
}

std::string unmet(const RepetitionRecord& record)
{
    const std::string trouble = read_text(record.device.trouble);
    if (trouble.empty()) {
        return read_text(record.transfers.trouble);
    }
    return record.refused == memory::AllocStatus::ok ? trouble : fmt::format("{}; {}", refusal(record), trouble);
}

// The first of them; the worker filled the number, so it is not taken at its word.
template <typename T>
std::span<T> first_of(std::span<T> all, std::uint64_t count)
{
    return all.first(std::min<std::uint64_t>(count, all.size()));
}

template <typename T>
std::vector<T> copied(std::span<T> from)
{
    return {from.begin(), from.end()};
}

}  // namespace

void read_region(const RunRegion& region, Outcome& outcome)
{
    const RunState state = region.header->state.load(std::memory_order_acquire);
    outcome.record = region.header->record;
    outcome.points = copied(first_of(region.points, region.header->points.load(std::memory_order_acquire)));
    outcome.phases = copied(region.phases);
    outcome.call_times_ns = copied(first_of(region.call_times_ns, outcome.record.calls));
    outcome.slots = copied(region.slot_records);
    if (!region.allocator.empty()) {
        const AllocatorRecord& said = region.allocator.front();
        outcome.allocator.library = read_text(said.library);
        outcome.allocator.format = read_text(said.format);
        outcome.allocator.statistics = read_text(first_of(std::span<const char>{said.statistics}, said.length));
    }
    if (!region.call_counts.empty()) {
        outcome.call_counts = std::make_shared<const trace::CallTimeCounts>(region.call_counts.front());
    }
    switch (state) {
    case RunState::finished:
        outcome.ending = Ending::finished;
        break;
    case RunState::refused:
        outcome.ending = Ending::refused;
        outcome.reason = refusal(outcome.record);
        break;
    case RunState::unmet:
        outcome.ending = Ending::unmet;
        outcome.reason = unmet(outcome.record);
        break;
    case RunState::starved:
        outcome.ending = Ending::broken;
        outcome.reason = fmt::format("the system refused the worker {}", read_text(outcome.record.starved_of));
        break;
    case RunState::transfer_failed:
        outcome.ending = Ending::refused;
        outcome.reason = read_text(outcome.record.transfers.trouble);
        break;
    case RunState::harness_failed:
        outcome.ending = Ending::broken;
        outcome.reason = "the worker could not read its own memory accounting from /proc";
        break;
    case RunState::too_many_memories:
        outcome.ending = Ending::broken;
        outcome.reason = "too many different memory and release settings in one process";
        break;
    case RunState::waiting:
    case RunState::running:
    case RunState::counting:
        outcome.ending = Ending::crashed;
        break;
    }
}

std::vector<Outcome> Executor::run_at_once(std::span<const Repetition> /*repetitions*/)
{
    MEMSWEEP_ASSERT(false, "only foreign programs run at the same time");
    return {};
}

}  // namespace memsweep::engine
