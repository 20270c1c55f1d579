#include "core/engine/steps/replays.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>

#include "core/model/specs.hpp"
#include "core/sys/clock.hpp"
#include "core/sys/descriptor.hpp"

namespace memsweep::engine {

namespace {

trace::ReplayTouch touch_of(model::ReplayTouch touch, const model::MemorySpec& memory)
{
    if (model::is_beyond_reach(memory.resource)) {
        return trace::ReplayTouch::unreachable;
    }
    switch (touch) {
    case model::ReplayTouch::none:
        return trace::ReplayTouch::none;
    case model::ReplayTouch::all:
        return trace::ReplayTouch::all;
    case model::ReplayTouch::recorded:
    case model::ReplayTouch::first_byte:
        return trace::ReplayTouch::first_byte;
    }
    return trace::ReplayTouch::none;
}

}  // namespace

bool Replays::prepare()
{
    for (const ReplayPlace& place : region_.replays) {
        sys::UniqueFd fd{::open(fmt::format("/proc/{}/fd/{}", place.pid, place.fd).c_str(), O_RDWR | O_CLOEXEC)};
        auto words = fd.valid() ? sys::SharedRegion::map(std::move(fd), sizeof(trace::ReplayHeader))
                                : base::Expected<sys::SharedRegion>{
                                      base::fail(base::ErrorCode::io, "the compiled trace cannot be opened")};
        if (!words) {
            return false;
        }
        const auto* data = reinterpret_cast<const std::uint64_t*>(words->data<std::byte>());
        const auto program = trace::view({data, words->size() / sizeof(std::uint64_t)});
        if (!program) {
            return false;
        }
        One& one = replays_.emplace_back(*std::move(words), *program);
        const bool with_handles = memory_.release.mode != model::ReleaseMode::immediate;
        const trace::ReplayRun dispatch = one.replayer.prepare(with_handles);
        region_.header->record.own_bytes += one.replayer.own_bytes();
        region_.header->record.replay.dispatch_ns += dispatch.thread_ns;
        region_.header->record.replay.dispatch_events += dispatch.events;
    }
    return true;
}

trace::ReplayRun Replays::run(const Replay& step, const std::function<void()>& at_end)
{
    trace::Replayer& replayer = replays_[step.trace].replayer;
    trace::CallTimeCounts* const times = step.latency ? &region_.call_counts.front() : nullptr;
    const sys::SystemClock clock;
    const std::int64_t began_ns = clock.now().count();
    const std::uint64_t began_ticks = trace::counter_ticks();
    static const std::function<void()> nothing;
    const trace::ReplayRun run =
        replay(replayer, touch_of(step.touch, memory_.spec), {times, step.latency ? nothing : at_end});
    if (is_direct() && !repeats(step)) {
        count_direct_calls(replayer);
    }
    replays_[step.trace].has_run = true;
    std::uint64_t& bound = region_.header->record.replay.live_bound;
    bound = std::max(bound, replayer.totals().peak_live_bound);
    if (step.latency) {
        const auto ticks = static_cast<double>(trace::counter_ticks() - began_ticks);
        const auto ns = static_cast<double>(clock.now().count() - began_ns);
        region_.header->record.replay.ns_per_tick = ticks > 0 ? ns / ticks : 0;
    } else {
        account(run);
    }
    return run;
}

bool Replays::is_direct() const
{
    const model::MemorySpec& memory = memory_.spec;
    return memory_.release.mode == model::ReleaseMode::immediate && memory_.release.safety == model::SafetySpec{} &&
           (memory == model::MemorySpec{} || memory.resource == model::ResourceKind::null);
}

trace::ReplayRun Replays::replay(trace::Replayer& replayer, trace::ReplayTouch touch, const trace::ReplayWatch& watch)
{
    if (is_direct()) {
        return memory_.spec.resource == model::ResourceKind::null ? replayer.on_nothing(watch)
                                                                  : replayer.on_malloc(touch, watch);
    }
    if (memory_.release.mode == model::ReleaseMode::immediate) {
        return replayer.on(memory_.stack.top(), touch, watch);
    }
    return replayer.on(memory_.heap, memory_.frees_manually, touch, watch);
}

void Replays::count_direct_calls(const trace::Replayer& replayer)
{
    ReplayRecord& record = region_.header->record.replay;
    const trace::ReplayTotals& totals = replayer.totals();
    record.direct_allocations += totals.allocations;
    record.direct_bytes += totals.bytes_allocated;
    record.direct_live_peak = std::max(record.direct_live_peak, totals.peak_live_bytes);
}

void Replays::account(const trace::ReplayRun& run)
{
    ReplayRecord& record = region_.header->record.replay;
    record.thread_ns += run.thread_ns;
    record.events += run.events;
    record.transferred_bytes += model::is_beyond_reach(memory_.spec.resource) ? 0 : run.transferred_bytes;
}

}  // namespace memsweep::engine
