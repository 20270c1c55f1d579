#include "core/engine/steps/step_operations.hpp"

#include "core/array/kernels.hpp"
#include "core/sys/allocator_library.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/sharing.hpp"

namespace memsweep::engine {

StepOperations::StepOperations(Environment environment, CaseMemory& memory, NamedArrays& arrays, StepRecord& record)
    : clock_{environment.clock}, probe_{environment.probe}, memory_{memory}, arrays_{arrays}, record_{record},
      reclaim_file_{sys::cgroup_reclaim_file("/").value_or("")}
{
}

void StepOperations::execute(const model::DrainStep& /*drain*/)
{
    const auto before = clock_.now();
    memory_.heap.drain();
    count_ns(Id::drain_time, clock_.now() - before);
}

void StepOperations::execute(const model::PurgeStep& /*purge*/)
{
    if (memory::Pool* const pool = memory_.stack.pool(); pool != nullptr) {
        pool->trim(0);
    }
    sys::trim_allocator();
}

void StepOperations::execute(const model::Trim<SlotIndex>& trimmed)
{
    for (const array::Array& one : arrays_[trimmed.target].meant()) {
        trim(one, trimmed.how);
    }
}

void StepOperations::execute(const model::Prefetch<SlotIndex>& prefetch)
{
    Handles& handles = arrays_[prefetch.target];
    for (const array::Array& one : handles.meant()) {
        const memory::PagesAdvised got = memory::prefetch(one.data(), one.bytes(), prefetch.how);
        record_.counts[Id::prefetched_bytes].add(got.bytes, !got.refused);
    }
    if (prefetch.how == model::PrefetchHow::populate_write) {
        arrays_.count_first_touch(handles);
    }
}

Refusal StepOperations::execute(const model::Migrate<SlotIndex>& migrate)
{
    for (const array::Array& one : arrays_[migrate.target].meant()) {
        const sys::Migration moved = sys::migrate_pages(one.data(), one.bytes(), migrate.node);
        if (moved.refused) {
            return {.status = memory::AllocStatus::no_such_node};
        }
        record_.counts[Id::migrated_bytes].add(moved.pages_there * sys::page_size());
        record_.counts[Id::unmoved_bytes].add(moved.pages_left * sys::page_size());
    }
    return {};
}

void StepOperations::execute(const model::Stream<SlotIndex>& stream)
{
    const memory::StreamPlan plan{.chunk_bytes = stream.chunk_bytes,
                                  .ahead = stream.ahead,
                                  .drop_behind = stream.drop_behind,
                                  .writes = stream.write};
    Handles& handles = arrays_[stream.target];
    const auto began = clock_.now();
    for (const array::Array& one : handles.meant()) {
        auto* const data = static_cast<std::byte*>(one.data());
        const bool dropped = memory::stream(data, one.bytes(), plan, [&](std::byte* chunk, std::uint64_t bytes) {
            if (plan.writes) {
                array::write_over(chunk, bytes);
            } else {
                ArrayCounts& counts = record_.array_counts;
                counts.checksum = array::chained(counts.checksum, array::checksum(chunk, bytes));
                ++counts.reads;
            }
        });
        record_.counts[Id::streamed_bytes].add(one.bytes());
        record_.counts[Id::trimmed_bytes].add(0, dropped);
    }
    count_ns(Id::stream_bandwidth, clock_.now() - began);
    arrays_.count_first_touch(handles);
}

Refusal StepOperations::execute(const model::ShareStep& share)
{
    const sys::Sharing shared = sys::share_with_a_process(share.bytes, share.rounds);
    switch (shared.outcome) {
    case sys::Sharing::Outcome::shm_full:
        return {memory::AllocStatus::shm_full, share.bytes};
    case sys::Sharing::Outcome::no_memory:
        return {memory::AllocStatus::out_of_memory, share.bytes};
    case sys::Sharing::Outcome::no_process:
    case sys::Sharing::Outcome::peer_ended:
        return {memory::AllocStatus::no_process, share.bytes};
    case sys::Sharing::Outcome::done:
        break;
    }
    record_.counts[Id::shared_bytes].add(shared.bytes);
    record_.counts[Id::share_wrong_bytes].add(shared.wrong_bytes);
    record_.counts[Id::share_bandwidth].add(static_cast<std::uint64_t>(shared.read_ns));
    record_.counts[Id::share_latency].value = static_cast<std::uint64_t>(shared.turn_ns);  // the last step's
    return {};
}

void StepOperations::count_ns(Id metric, std::chrono::nanoseconds took)
{
    record_.counts[metric].add(static_cast<std::uint64_t>(took.count()));
}

void StepOperations::trim(const array::Array& array, model::TrimHow how)
{
    if (!array || array.is_freed() || how == model::TrimHow::none) {
        return;
    }
    record_.counts[Id::trims].add(1);
    memory::PagesAdvised trimmed;
    if (how == model::TrimHow::cgroup) {
        const bool done = !reclaim_file_.empty() && sys::reclaim_from_cgroup(reclaim_file_, array.bytes());
        trimmed = {done ? array.bytes() : 0, !done};
    } else {
        trimmed = memory::trim(array.data(), array.bytes(), how);
    }
    record_.counts[Id::trimmed_bytes].add(trimmed.bytes, !trimmed.refused);
}

}  // namespace memsweep::engine
