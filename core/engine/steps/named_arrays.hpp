// The arrays of a repetition by name, and the operations that make, use and drop them. The safety options of a case
// check these operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/kernels.hpp"
#include "core/engine/steps/environment.hpp"
#include "core/engine/steps/run_region.hpp"
#include "core/memory/adaptors.hpp"
#include "core/sys/page_ops.hpp"
#include "core/sys/signals.hpp"

namespace memsweep::engine {

// Checks a program's accesses and manual frees, as the safety options of its memory ask, and counts defects by name.
//
// Cost     only a branch if every option is off.
// Threads  the interpreter's.
class Accesses {
  public:
    Accesses(CaseMemory& memory, std::span<SlotRecord> slots)
        : memory_{memory}, slots_{slots}, quarantine_{memory.stack.quarantine()}
    {
        using model::Detection;
        const model::SafetySpec& safety = memory.release.safety;
        checks_ = safety.detect == Detection::flag || safety.detect == Detection::null ||
                  memory.release.mode == model::ReleaseMode::arena_checked;
        traps_ = safety.detect == Detection::unmap || safety.guard_pages;
        guards_ = checks_ || traps_;
    }

    // Whether the array's memory may be used. If not, counts a defect, and the caller must not use the memory.
    [[nodiscard]] bool allowed(const array::Array& array, std::uint16_t slot)
    {
        const bool allowed = !checks_ || memory_.heap.accessible(array.buffer());
        slots_[slot].uses_after_free += allowed ? 0 : 1;
        return allowed;
    }

    // Runs `access` if the array's memory may be used. `access` accesses the array and `beyond` bytes past its end. A
    // fault during the access is counted as a defect.
    template <typename Access>
    void run(const array::Array& array, std::uint16_t slot, std::uint64_t beyond, const Access& access)
    {
        if (!guards_) {
            access();
        } else if (allowed(array, slot)) {
            const sys::Trapped trapped = traps_ ? sys::trapped(access) : (access(), sys::Trapped{});
            if (trapped.faulted) {
                ++(beyond != 0 && !array.is_freed() ? slots_[slot].overruns : slots_[slot].uses_after_free);
            }
        }
    }

    void look_for_poison(const array::Array& array, std::uint16_t slot)
    {
        if (quarantine_ != nullptr && array && memory::looks_poisoned(array.data(), array.bytes())) {
            ++slots_[slot].uses_after_free;
        }
    }

    void about_to_release(std::uint16_t slot)
    {
        if (quarantine_ != nullptr) {
            quarantine_->tag_next(slot);
        }
    }

    void free(array::Array& array, std::uint16_t slot)
    {
        about_to_release(slot);
        switch (memory_.heap.free(array.handle())) {
        case lifetime::ManualFree::twice:
            ++slots_[slot].double_frees;
            break;
        case lifetime::ManualFree::aliased:
            ++slots_[slot].aliased_frees;
            break;
        case lifetime::ManualFree::disregarded:
        case lifetime::ManualFree::done:
        case lifetime::ManualFree::kept:
            break;
        }
    }

    void release_stray(const array::Array& array, std::uint16_t slot)
    {
        about_to_release(slot);
        memory_.heap.release_stray(array.buffer());
        ++slots_[slot].stray_releases;
    }

    void report_broken_poison()
    {
        if (quarantine_ != nullptr) {
            for (const std::uint16_t slot : quarantine_->take_broken()) {
                ++slots_[slot].uses_after_free;
            }
        }
    }

  private:
    CaseMemory& memory_;
    std::span<SlotRecord> slots_;
    memory::QuarantineAdaptor* quarantine_;
    bool checks_{};
    bool traps_{};
    bool guards_{};
};

// The arrays of one name in one thread.
struct Handles {
    std::vector<array::Array> current;
    std::vector<array::Array> fresh;  // new arrays of a rebinding, which are made before the old ones are dropped
    std::size_t in_use{};
    bool written{};  // all pages have been touched, so a further write touches no page for the first time

    // The arrays that the name is bound to now.
    [[nodiscard]] std::span<array::Array> meant() noexcept { return std::span{current}.first(in_use); }
    [[nodiscard]] std::span<const array::Array> meant() const noexcept { return std::span{current}.first(in_use); }

    void reserve(std::size_t capacity)
    {
        current.resize(capacity);
        fresh.resize(capacity);
    }

    // Returns where to make new arrays. If the name is bound to arrays already, this is `fresh`, because the old arrays
    // are dropped only after the new ones are made.
    [[nodiscard]] std::vector<array::Array>& places() noexcept { return in_use == 0 ? current : fresh; }

    // Binds the name to the arrays made in places(). Then drops the old arrays one by one, as a list in Python would.
    void rebind(std::size_t count) noexcept
    {
        const std::size_t old = in_use;
        in_use = count;
        if (old == 0) {
            return;
        }
        current.swap(fresh);
        for (std::size_t i = 0; i < old; ++i) {
            fresh[i].reset();
        }
    }

    [[gnu::always_inline]] void forget() noexcept
    {
        array::Array* const all = current.data();
        const std::size_t count = in_use;
        for (std::size_t i = 0; i < count; ++i) {
            all[i].reset();
        }
        in_use = 0;
    }

    // The number of pages that this write touches for the first time; 0 if the arrays were written before.
    [[nodiscard]] std::uint64_t first_touch(std::uint64_t page_bytes) noexcept
    {
        std::uint64_t pages = 0;
        for (std::size_t i = 0; i < in_use && !written; ++i) {
            pages += array::pages_spanned(current[i].data(), current[i].bytes(), page_bytes);
        }
        written = true;
        return pages;
    }
};

struct Refusal {
    memory::AllocStatus status{memory::AllocStatus::ok};  // ok: nothing was refused
    std::uint64_t bytes{};                                // of the refused array; 0: unknown
    std::uint64_t made{};                                 // arrays made before the refusal and bound to no name yet
};

// The arrays of a repetition by name, and the operations that make, use and drop them.
//
// Units    bytes, arrays, pages.
// Memory   all handles are made before the baseline (the state of the memory before the first step). So a name can be
//          bound to new arrays, and arrays can be passed on or dropped, without an allocation.
// Errors   Refusal: the memory refused an array; the name keeps its old arrays.
// Threads  one at a time.
class NamedArrays {
  public:
    // Makes all handles, so that their pages belong to the baseline. `tags`: whether to tag the arrays' blocks with
    // their names; only one thread of a program may ask for this.
    NamedArrays(const RunRegion& region, CaseMemory& memory, ArrayCounts& counts, bool tags)
        : memory_{memory}, counts_{counts}, tags_{tags},
          needs_notice_{memory.frees_manually || memory.stack.quarantine() != nullptr},
          accesses_{memory, region.slot_records}, handles_(region.slots.size())
    {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            handles_[i].reserve(region.slots[i].capacity);
        }
    }

    [[nodiscard]] Handles& operator[](SlotIndex slot) { return handles_[slot]; }

    // Like execute() for drops, below, this is inlined into the loop that walks the instructions. A call would add a
    // fifth to the time of the loop.
    [[nodiscard, gnu::always_inline]] Refusal execute(const Alloc& alloc)
    {
        Handles& handles = handles_[alloc.as];
        tag_next(alloc.as);
        array::Array* const places = handles.places().data();
        for (std::uint64_t i = 0; i < alloc.count; ++i) {
            const memory::AllocStatus status = places[i].renew(memory_.heap, alloc.each, alloc.shape());
            if (status != memory::AllocStatus::ok) [[unlikely]] {
                return {status, alloc.each.bytes, i};
            }
        }
        rebind(handles, alloc.count);
        handles.written = false;
        if (alloc.each.touch != model::Touch::none) {
            count_first_touch(handles);
        }
        return {};
    }

    // Allocates and frees blocks that are bound to no name. Each counts as an array made.
    [[nodiscard]] Refusal execute(const model::AllocFreeStep& step)
    {
        const memory::AllocFreeTurns turns = memory_.stack.alloc_free(step.bytes, step.times);
        if (turns.status != memory::AllocStatus::ok) {
            return {turns.status, step.bytes, turns.done};
        }
        counts_.made += turns.done;
        return {};
    }

    [[nodiscard]] Refusal execute(const model::Binary<SlotIndex>& binary)
    {
        Handles& result = handles_[binary.as];
        const Handles& left = handles_[binary.left];
        const Handles& right = handles_[binary.right];
        const std::size_t count = std::min(left.in_use, right.in_use);
        std::size_t made_count = 0;
        tag_next(binary.as);
        for (std::size_t i = 0; i < count; ++i) {
            if (!accesses_.allowed(left.current[i], binary.left) ||
                !accesses_.allowed(right.current[i], binary.right)) {
                continue;
            }
            auto made = array::binary(memory_.heap, binary.function, left.current[i], right.current[i]);
            if (made.status != memory::AllocStatus::ok) {
                return {made.status, left.current[i].bytes(), i};
            }
            result.places()[made_count++] = std::move(made.array);
        }
        rebind(result, made_count);
        result.written = false;
        count_first_touch(result);
        return {};
    }

    [[nodiscard]] Refusal execute(const model::View<SlotIndex>& view)
    {
        Handles& result = handles_[view.as];
        const Handles& looked_at = handles_[view.of];
        std::size_t made_count = 0;
        tag_next(view.as);
        for (std::size_t i = 0; i < looked_at.in_use; ++i) {
            if (!accesses_.allowed(looked_at.current[i], view.of)) {
                continue;
            }
            array::Array rows = looked_at.current[i].slice(0, static_cast<std::int64_t>(view.start),
                                                           static_cast<std::int64_t>(view.stop));
            const std::uint64_t rows_bytes = rows.bytes();
            auto made = view.copy ? rows.copy(memory_.heap) : array::Array::Result{std::move(rows)};
            if (made.status != memory::AllocStatus::ok) {
                return {made.status, rows_bytes, i};
            }
            result.places()[made_count++] = std::move(made.array);
        }
        rebind(result, made_count);
        result.written = !view.copy;
        if (view.copy) {
            count_first_touch(result);
        }
        return {};
    }

    void execute(const model::Write<SlotIndex>& write)
    {
        Handles& handles = handles_[write.target];
        for (const array::Array& one : handles.meant()) {
            accesses_.run(one, write.target, write.overrun_bytes, [&] {
                const std::uint64_t bytes = one.bytes() + write.overrun_bytes;
                if (write.touch == model::Touch::full) {
                    array::write_over(one.data(), bytes);
                } else {
                    array::touch(one.data(), bytes, write.touch);
                }
            });
        }
        count_first_touch(handles);
    }

    void execute(const model::Read<SlotIndex>& read)
    {
        for (const array::Array& one : handles_[read.target].meant()) {
            std::uint64_t sum = 0;
            accesses_.run(one, read.target, 0, [&] { sum = array::checksum(one.data(), one.bytes()); });
            accesses_.look_for_poison(one, read.target);
            counts_.checksum = array::chained(counts_.checksum, sum);
            ++counts_.reads;
        }
    }

    void execute(const model::Free<SlotIndex>& free)
    {
        for (array::Array& one : handles_[free.target].meant()) {
            accesses_.free(one, free.target);
        }
    }

    void execute(const model::Release<SlotIndex>& release)
    {
        for (const array::Array& one : handles_[release.target].meant()) {
            accesses_.release_stray(one, release.target);
        }
    }

    [[gnu::always_inline]] void execute(const model::Drop<SlotIndex>& drop)
    {
        Handles& handles = handles_[drop.target];
        if (needs_notice_) [[unlikely]] {
            about_to_drop(handles, drop.target);
        }
        handles.forget();
    }

    // Adds the pages of the arrays to pages_touched, unless the arrays were written before.
    void count_first_touch(Handles& handles) { counts_.pages_touched += handles.first_touch(page_bytes_); }

    // Drops the arrays of all names.
    void forget()
    {
        for (Handles& handles : handles_) {
            handles.forget();
        }
    }

    void report_broken_poison() { accesses_.report_broken_poison(); }

    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (const Handles& handles : handles_) {
            for (const array::Array& one : handles.meant()) {
                visit(one);
            }
        }
    }

  private:
    void rebind(Handles& handles, std::size_t count)
    {
        counts_.made += count;
        handles.rebind(count);
    }

    // Call before a drop. Frees the arrays if the program frees by hand, and tags the drop for the quarantine.
    [[gnu::noinline]] void about_to_drop(Handles& handles, SlotIndex slot)
    {
        if (memory_.frees_manually) {
            for (array::Array& one : handles.meant()) {
                if (!one.is_freed()) {
                    accesses_.free(one, slot);
                }
            }
        }
        accesses_.about_to_release(slot);
    }

    void tag_next(SlotIndex slot)
    {
        if (tags_) {
            memory_.heap.tag_next(slot);
        }
    }

    CaseMemory& memory_;
    ArrayCounts& counts_;
    bool tags_;
    bool needs_notice_;  // about_to_drop() must be called before arrays are dropped
    Accesses accesses_;
    std::uint64_t page_bytes_{sys::page_size()};
    std::vector<Handles> handles_;
};

}  // namespace memsweep::engine
