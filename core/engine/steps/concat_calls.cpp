#include "core/engine/steps/concat_calls.hpp"

#include <algorithm>

#include "core/base/assert.hpp"

namespace memsweep::engine {

namespace {

const model::ConcatCase& case_of(const Concat& concat)
{
    return model::concat_cases()[concat.concat_case];
}

}  // namespace

ConcatCalls::ConcatCalls(const RunRegion& region, CaseMemory& memory, Environment environment)
    : region_{region}, record_{region.header->record}, memory_{memory}, clock_{environment.clock}
{
    const auto steps = std::ranges::count_if(region.instructions, is<model::ConcatStep>);
    built_.reserve(static_cast<std::size_t>(steps));
}

Refusal ConcatCalls::run(const Concat& concat, Stopwatch& stopwatch, const std::function<void()>& before_call)
{
    const std::uint64_t result_bytes = case_of(concat).result_bytes();
    memory_.heap.tag_next(concat.inputs);

    const Stopwatch::Pause preparing = stopwatch.pause();
    const memory::AllocStatus prepared = prepare(concat);
    stopwatch.resume(preparing);
    if (prepared != memory::AllocStatus::ok) {
        return {prepared, find(concat.concat_case) != nullptr ? result_bytes : 0};
    }
    const memory::AllocStatus timed = time_calls(concat, find(concat.concat_case)->call, stopwatch, before_call);
    return {timed, timed == memory::AllocStatus::ok ? 0 : result_bytes};
}

const array::Array& ConcatCalls::out(const Concat& concat) const
{
    const Built* const built = find(concat.concat_case);
    MEMSWEEP_ASSERT(built != nullptr, "a case has somewhere to write to once it has run");
    return built->call.out();
}

const ConcatCalls::Built* ConcatCalls::find(std::uint16_t concat_case) const
{
    const auto found = std::ranges::find(built_, concat_case, &Built::concat_case);
    return found == built_.end() ? nullptr : &*found;
}

memory::AllocStatus ConcatCalls::prepare(const Concat& concat)
{
    const Built* built = find(concat.concat_case);
    if (built == nullptr) {
        auto made = array::ConcatCall::build(memory_.heap, case_of(concat));
        if (made.status != memory::AllocStatus::ok) {
            return made.status;
        }
        record_.array_counts.made += made.call.inputs().size() + (made.call.out() ? 1U : 0U);
        built_.push_back({concat.concat_case, std::move(made.call)});
        built = &built_.back();
    }
    for (std::uint64_t call = 0; call < concat.warmup; ++call) {
        if (const auto result = made(built->call); result.allocation != memory::AllocStatus::ok) {
            return result.allocation;
        }
    }
    return memory::AllocStatus::ok;
}

memory::AllocStatus ConcatCalls::time_calls(const Concat& concat, const array::ConcatCall& call, Stopwatch& stopwatch,
                                            const std::function<void()>& before_call)
{
    const std::uint64_t faults = stopwatch.kernel_so_far().minor_faults;
    for (std::uint64_t left = concat.calls; left > 0; --left) {
        before_call();
        std::chrono::nanoseconds start = clock_.now();
        {
            const array::ConcatResult result = made(call);
            if (result.allocation != memory::AllocStatus::ok) {
                return result.allocation;
            }
            if (left == 1) {
                const std::chrono::nanoseconds taken = clock_.now() - start;
                const Stopwatch::Pause checking = stopwatch.pause();
                ++record_.results_checked;
                record_.results_wrong += array::agrees_with_numpy(result.array, case_of(concat)) ? 0U : 1U;
                stopwatch.resume(checking);
                start = clock_.now() - taken;
            }
        }
        const std::chrono::nanoseconds end = clock_.now();
        region_.call_times_ns[record_.calls++] = (end - start).count();
    }
    record_.call_minor_faults += stopwatch.kernel_so_far().minor_faults - faults;
    return memory::AllocStatus::ok;
}

array::ConcatResult ConcatCalls::made(const array::ConcatCall& call)
{
    array::ConcatResult result = call.call(memory_.heap);
    record_.array_counts.made += result.status == array::ConcatStatus::ok && !call.out() ? 1U : 0U;
    MEMSWEEP_ASSERT(result.status == array::ConcatStatus::ok || result.status == array::ConcatStatus::not_allocated,
                    "every case of the sweep is one that can be concatenated");
    return result;
}

}  // namespace memsweep::engine
