#include "core/engine/steps/heap_replay.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/quantity.hpp"
#include "core/sys/machine_facts.hpp"

namespace memsweep::engine {

namespace {

std::uint64_t median_of(const std::vector<ReplayRecord>& records,
                        const std::function<std::uint64_t(const ReplayRecord&)>& figure)
{
    std::vector<std::uint64_t> values;
    values.reserve(records.size());
    std::ranges::transform(records, std::back_inserter(values), figure);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

base::Error failure_of(const Attempt& attempt)
{
    if (attempt.ending == Ending::interrupted) {
        return {base::ErrorCode::interrupted, "the replay was interrupted"};
    }
    return {base::ErrorCode::os,
            attempt.reason.empty() ? "the replay was refused memory" : "the replay failed: " + attempt.reason};
}

// One for each run; none where nothing is left of the trace.
base::Expected<std::vector<ReplayRecord>> replayed(Executor& workers, const HeapReplayOrder& order,
                                                   const Replay& operands)
{
    const auto* const words = reinterpret_cast<const std::uint64_t*>(order.trace->data<std::byte>());
    const auto program = MEMSWEEP_TRY(trace::view({words, order.trace->size() / sizeof(std::uint64_t)}));
    std::vector<ReplayRecord> records;
    if (program.threads.empty()) {
        return records;
    }
    CompiledCase compiled{.allocator = order.allocator, .work = StepProgram{}};
    StepProgram& steps = compiled.steps();
    steps.release.mode = model::ReleaseMode::immediate;
    steps.replays.push_back(order.trace);
    steps.instructions.push_back({.operands = operands, .timed = true});
    for (std::uint32_t run = 0; run < std::max(order.runs, 1U); ++run) {
        const Attempt attempt = workers.run(compiled, {.timeout = order.timeout}, [](int /*pid*/) {});
        if (attempt.ending != Ending::finished) {
            return base::fail(failure_of(attempt));
        }
        const ReplayRecord& record = attempt.steps().record.replay;
        if (!record.has_ended || (operands.gives_back && !record.was_asked) ||
            (operands.settle_ns > 0 && !record.was_idle)) {
            return base::fail(base::ErrorCode::os, "the memory of the replaying process could not be read");
        }
        records.push_back(record);
    }
    return records;
}

}  // namespace

base::Expected<void> check_room_to_replay(const trace::ReplayTotals& totals)
{
    const std::uint64_t available = sys::available_memory();  // 0: not known
    if (available != 0 && totals.peak_live_bound > available / 5 * 4) {
        return base::fail(base::ErrorCode::budget,
                          fmt::format("its replay would hold {}, and this machine has {} left",
                                      base::format_size(totals.peak_live_bound), base::format_size(available)));
    }
    return {};
}

base::Expected<measure::ReplayedHeap> replay_heap(Executor& workers, const HeapReplayOrder& order)
{
    const auto records =
        MEMSWEEP_TRY(replayed(workers, order, {.touch = model::ReplayTouch::recorded, .gives_back = true}));
    const auto span = [&](std::uint64_t ReplayRecord::*bytes) {
        std::vector<std::int64_t> above;
        above.reserve(records.size());
        std::ranges::transform(records, std::back_inserter(above), [&](const ReplayRecord& one) {
            return static_cast<std::int64_t>(one.*bytes) - static_cast<std::int64_t>(one.anonymous_before_bytes);
        });
        return measure::span_of(std::move(above));
    };
    return measure::ReplayedHeap{span(&ReplayRecord::anonymous_end_bytes),
                                 span(&ReplayRecord::anonymous_given_back_bytes)};
}

base::Expected<ReplayResidence> replay_residence(Executor& workers, const HeapReplayOrder& order,
                                                 std::chrono::nanoseconds rest)
{
    const auto records =
        MEMSWEEP_TRY(replayed(workers, order, {.touch = model::ReplayTouch::recorded, .settle_ns = rest.count()}));
    if (records.empty()) {
        return base::fail(base::ErrorCode::os, "nothing was recorded that could be replayed");
    }
    const auto figure = [&](std::uint64_t ReplayRecord::*bytes) {
        return median_of(records, [&](const ReplayRecord& one) { return one.*bytes; });
    };
    return ReplayResidence{figure(&ReplayRecord::peak_bytes), figure(&ReplayRecord::end_bytes),
                           figure(rest.count() > 0 ? &ReplayRecord::idle_bytes : &ReplayRecord::end_bytes),
                           median_of(records, [](const ReplayRecord& one) {
                               return one.anonymous_end_bytes -
                                      std::min(one.anonymous_before_bytes, one.anonymous_end_bytes);
                           })};
}

}  // namespace memsweep::engine
