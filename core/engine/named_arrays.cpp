#include "core/engine/named_arrays.hpp"

#include <algorithm>
#include <utility>

#include "core/array/array.hpp"
#include "core/array/kernels.hpp"

namespace memsweep::engine {

using memory::AllocStatus;

// Sized and constructed now, so that the pages they lie on belong to the baseline.
NamedArrays::NamedArrays(const RunRegion& region, CaseMemory& memory)
    : memory_{memory}, record_{region.header->record}, accesses_{memory, region.slot_records},
      handles_(region.slots.size())
{
    for (std::size_t i = 0; i < handles_.size(); ++i) {
        handles_[i].reserve(region.slots[i].capacity);
    }
}

Refusal NamedArrays::execute(const Alloc& alloc)
{
    Handles& handles = handles_[alloc.as];
    memory_.heap.tag_next(alloc.as);
    for (std::uint64_t i = 0; i < alloc.count; ++i) {
        auto made = array::Array::create(memory_.heap, alloc.dtype, alloc.shape(), alloc.fill, alloc.touch);
        if (made.status != AllocStatus::ok) {
            return {made.status, alloc.array_bytes(), i};
        }
        handles.fresh[i] = std::move(made.array);
    }
    rebind(handles, alloc.count);
    handles.written = false;
    if (alloc.touch != model::Touch::none) {
        count_first_touch(handles);
    }
    return {};
}

Refusal NamedArrays::execute(const model::Binary<SlotIndex>& binary)
{
    Handles& result = handles_[binary.as];
    const Handles& left = handles_[binary.left];
    const Handles& right = handles_[binary.right];
    const std::size_t count = std::min(left.in_use, right.in_use);
    std::size_t made_count = 0;
    memory_.heap.tag_next(binary.as);
    for (std::size_t i = 0; i < count; ++i) {
        if (!accesses_.allowed(left.current[i], binary.left) || !accesses_.allowed(right.current[i], binary.right)) {
            continue;
        }
        auto made = array::binary(memory_.heap, binary.function, left.current[i], right.current[i]);
        if (made.status != AllocStatus::ok) {
            return {made.status, left.current[i].bytes(), i};
        }
        result.fresh[made_count++] = std::move(made.array);
    }
    rebind(result, made_count);
    result.written = false;
    count_first_touch(result);
    return {};
}

Refusal NamedArrays::execute(const model::View<SlotIndex>& view)
{
    Handles& result = handles_[view.as];
    const Handles& looked_at = handles_[view.of];
    std::size_t made_count = 0;
    memory_.heap.tag_next(view.as);
    for (std::size_t i = 0; i < looked_at.in_use; ++i) {
        if (!accesses_.allowed(looked_at.current[i], view.of)) {
            continue;
        }
        array::Array rows =
            looked_at.current[i].slice(0, static_cast<std::int64_t>(view.start), static_cast<std::int64_t>(view.stop));
        const std::uint64_t rows_bytes = rows.bytes();
        auto made = view.copy ? rows.copy(memory_.heap) : array::Array::Result{std::move(rows)};
        if (made.status != AllocStatus::ok) {
            return {made.status, rows_bytes, i};
        }
        result.fresh[made_count++] = std::move(made.array);
    }
    rebind(result, made_count);
    result.written = !view.copy;
    if (view.copy) {
        count_first_touch(result);
    }
    return {};
}

void NamedArrays::execute(const model::Write<SlotIndex>& write)
{
    Handles& handles = handles_[write.target];
    for (const array::Array& one : handles.meant()) {
        accesses_.run(one, write.target, write.overrun_bytes,
                      [&] { array::touch(one.data(), one.bytes() + write.overrun_bytes, write.touch); });
    }
    count_first_touch(handles);
}

void NamedArrays::execute(const model::Read<SlotIndex>& read)
{
    for (const array::Array& one : handles_[read.target].meant()) {
        std::uint64_t sum = 0;
        accesses_.run(one, read.target, 0, [&] { sum = array::checksum(one.data(), one.bytes()); });
        accesses_.look_for_poison(one, read.target);
        record_.checksum = array::chained(record_.checksum, sum);
        ++record_.reads;
    }
}

void NamedArrays::execute(const model::Free<SlotIndex>& free)
{
    for (array::Array& one : handles_[free.target].meant()) {
        accesses_.free(one, free.target);
    }
}

void NamedArrays::execute(const model::Release<SlotIndex>& release)
{
    for (const array::Array& one : handles_[release.target].meant()) {
        accesses_.release_stray(one, release.target);
    }
}

// Where the program frees by hand, it does so before it drops.
void NamedArrays::execute(const model::Drop<SlotIndex>& drop)
{
    Handles& handles = handles_[drop.target];
    if (memory_.frees_manually) {
        for (array::Array& one : handles.meant()) {
            if (!one.is_freed()) {
                accesses_.free(one, drop.target);
            }
        }
    }
    accesses_.about_to_release(drop.target);
    handles.forget();
}

void NamedArrays::rebind(Handles& handles, std::size_t count)
{
    made_ += count;
    handles.rebind(count);
}

}  // namespace memsweep::engine
