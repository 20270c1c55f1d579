#include "core/engine/paging.hpp"

#include "core/array/checksum.hpp"
#include "core/array/touch.hpp"
#include "core/memory/prefetch.hpp"
#include "core/memory/trim.hpp"
#include "core/sys/cgroup_memory.hpp"
#include "core/sys/numa.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/sharing.hpp"

namespace memsweep::engine {

using memory::AllocStatus;

Paging::Paging(Environment environment, const model::TrimPolicy& policy, RepetitionRecord& record)
    : clock_{environment.clock}, probe_{environment.probe}, policy_{policy}, record_{record},
      reclaim_file_{sys::cgroup_reclaim_file("/").value_or("")}
{
}

bool Paging::is_above_limit() const
{
    const auto snapshot = probe_.snapshot();
    return snapshot && snapshot->working_set_bytes() > policy_.above_bytes;
}

void Paging::trim(const Handles& handles, model::TrimHow how)
{
    for (std::size_t i = 0; i < handles.in_use; ++i) {
        trim(handles.current[i], how);
    }
}

void Paging::trim(const array::Array& array, model::TrimHow how)
{
    if (!array || array.is_freed() || how == model::TrimHow::none) {
        return;
    }
    ++record_.trims;
    if (how == model::TrimHow::cgroup) {
        const bool done = !reclaim_file_.empty() && sys::reclaim_from_cgroup(reclaim_file_, array.bytes());
        record_.trimmed_bytes += done ? array.bytes() : 0;
        record_.trims_refused += done ? 0 : 1;
        return;
    }
    const memory::Trimmed trimmed = memory::trim(array.data(), array.bytes(), how);
    record_.trimmed_bytes += trimmed.bytes;
    record_.trims_refused += trimmed.refused ? 1 : 0;
}

void Paging::prefetch(const Handles& handles, model::PrefetchHow how)
{
    for (std::size_t i = 0; i < handles.in_use; ++i) {
        const array::Array& one = handles.current[i];
        const memory::Prefetched got = memory::prefetch(one.data(), one.bytes(), how);
        record_.prefetched_bytes += got.bytes;
        record_.prefetches_refused += got.refused ? 1 : 0;
    }
}

AllocStatus Paging::migrate(const Handles& handles, std::uint32_t node)
{
    for (std::size_t i = 0; i < handles.in_use; ++i) {
        const array::Array& one = handles.current[i];
        const sys::Migration moved = sys::migrate_pages(one.data(), one.bytes(), node);
        if (moved.refused) {
            return AllocStatus::no_such_node;
        }
        record_.migrated_bytes += moved.pages_there * sys::page_size();
        record_.unmoved_bytes += moved.pages_left * sys::page_size();
    }
    return AllocStatus::ok;
}

void Paging::stream(const Handles& handles, const model::Stream<SlotIndex>& stream)
{
    const memory::StreamPlan plan{.chunk_bytes = stream.chunk_bytes,
                                  .ahead = stream.ahead,
                                  .drop_behind = stream.drop_behind,
                                  .writes = stream.write};
    const auto began = clock_.now();
    for (std::size_t i = 0; i < handles.in_use; ++i) {
        auto* const data = static_cast<std::byte*>(handles.current[i].data());
        const bool dropped = memory::stream(data, handles.current[i].bytes(), plan, [&](std::byte* chunk, auto bytes) {
            if (plan.writes) {
                array::touch(chunk, bytes, model::Touch::full);
            } else {
                record_.checksum = array::chained(record_.checksum, array::checksum(chunk, bytes));
                ++record_.reads;
            }
        });
        record_.streamed_bytes += handles.current[i].bytes();
        record_.trims_refused += dropped ? 0 : 1;
    }
    record_.stream_ns += (clock_.now() - began).count();
}

AllocStatus Paging::share(const model::ShareStep& share)
{
    const sys::Sharing shared = sys::share_with_a_process(share.bytes, share.rounds);
    switch (shared.outcome) {
    case sys::Sharing::Outcome::shm_full:
        return AllocStatus::shm_full;
    case sys::Sharing::Outcome::no_memory:
        return AllocStatus::out_of_memory;
    case sys::Sharing::Outcome::no_process:
    case sys::Sharing::Outcome::peer_ended:
        return AllocStatus::no_process;
    case sys::Sharing::Outcome::done:
        break;
    }
    record_.shared_bytes += shared.bytes;
    record_.shared_wrong_bytes += shared.wrong_bytes;
    record_.share_read_ns += shared.read_ns;
    record_.share_turn_ns = shared.turn_ns;
    return AllocStatus::ok;
}

}  // namespace memsweep::engine
