#include "core/engine/executor.hpp"

#include <algorithm>

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
    std::string text = fmt::format("{} was refused with {} live, after {} arrays: {}", what,
                                   base::format_size(static_cast<double>(record.refused_at_live_bytes)),
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

// The worker filled it, so a length is not taken at its word.
AllocatorWord word_of(const AllocatorRecord& record)
{
    const std::size_t length = std::min<std::size_t>(record.length, record.statistics.size());
    return {read_text(record.library), read_text(record.format), read_text({record.statistics.data(), length})};
}

}  // namespace

void read_region(const RunRegion& region, Outcome& outcome)
{
    const RunState state = region.header->state.load(std::memory_order_acquire);
    outcome.record = region.header->record;
    const std::size_t points =
        std::min<std::size_t>(region.header->points.load(std::memory_order_acquire), region.points.size());
    outcome.points.assign(region.points.begin(), region.points.begin() + static_cast<std::ptrdiff_t>(points));
    outcome.phases.assign(region.phases.begin(), region.phases.end());
    const std::size_t calls = std::min<std::size_t>(outcome.record.calls, region.call_times_ns.size());
    outcome.call_times_ns.assign(region.call_times_ns.begin(),
                                 region.call_times_ns.begin() + static_cast<std::ptrdiff_t>(calls));
    outcome.slots.assign(region.slot_records.begin(), region.slot_records.end());
    if (!region.allocator.empty()) {
        outcome.allocator = word_of(region.allocator.front());
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
    case RunState::waiting:
    case RunState::running:
        outcome.ending = Ending::crashed;
        break;
    }
}

}  // namespace memsweep::engine
