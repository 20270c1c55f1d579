#include "core/engine/steps/read_region.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "core/base/quantity.hpp"

namespace memsweep::engine {
namespace {

std::string refusal(const StepRecord& record)
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

std::string unmet(const StepRecord& record)
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

void read_region(const RunRegion& region, Attempt& attempt)
{
    const RunState state = region.header->state.load(std::memory_order_acquire);
    auto& measured = attempt.measured.emplace<StepMeasurements>(StepMeasurements{.record = region.header->record});
    const StepRecord& record = measured.record;
    measured.points = copied(first_of(region.points, region.header->points.load(std::memory_order_acquire)));
    measured.phases = copied(region.phases);
    measured.call_times_ns = copied(first_of(region.call_times_ns, record.calls));
    measured.slots = copied(region.slot_records);
    if (!region.allocator.empty()) {
        const AllocatorRecord& said = region.allocator.front();
        attempt.allocator.library = read_text(said.library);
        attempt.allocator.format = read_text(said.format);
        attempt.allocator.statistics = read_text(first_of(std::span<const char>{said.statistics}, said.length));
    }
    if (!region.call_counts.empty()) {
        measured.call_counts = std::make_shared<const trace::CallTimeCounts>(region.call_counts.front());
    }
    switch (state) {
    case RunState::finished:
        attempt.ending = Ending::finished;
        break;
    case RunState::refused:
        attempt.ending = Ending::refused;
        attempt.reason = refusal(record);
        break;
    case RunState::unmet:
        attempt.ending = Ending::unmet;
        attempt.reason = unmet(record);
        break;
    case RunState::starved:
        attempt.ending = Ending::broken;
        attempt.reason = fmt::format("the system refused the worker {}", read_text(record.starved_of));
        break;
    case RunState::transfer_failed:
        attempt.ending = Ending::refused;
        attempt.reason = read_text(record.transfers.trouble);
        break;
    case RunState::harness_failed:
        attempt.ending = Ending::broken;
        attempt.reason = "the worker could not read its own memory accounting from /proc";
        break;
    case RunState::too_many_memories:
        attempt.ending = Ending::broken;
        attempt.reason = "too many different memory and release settings in one process";
        break;
    case RunState::waiting:
    case RunState::running:
    case RunState::counting:
        attempt.ending = Ending::crashed;
        break;
    }
}

}  // namespace memsweep::engine
