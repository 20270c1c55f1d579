// The arrays of a repetition by name, and the operations that make, use and drop them.
//
// Units    bytes, arrays, pages.
// Memory   handles are sized once, before the baseline: nothing is allocated by rebinding, passing on or forgetting.
// Errors   Refusal: the memory refused an array; the name keeps what it had.
// Threads  one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/array/array.hpp"
#include "core/array/touch.hpp"
#include "core/engine/accesses.hpp"
#include "core/engine/case_memory.hpp"
#include "core/engine/run_region.hpp"
#include "core/sys/page_ops.hpp"

namespace memsweep::engine {

// What the arrays of one name are to a thread: those it means now, and those that a rebinding makes before the old go.
struct Handles {
    std::vector<array::Array> current;
    std::vector<array::Array> fresh;  // what a rebinding makes before the old arrays go
    std::size_t in_use{};
    bool written{};  // its pages have been touched once, so that another write touches none anew

    void reserve(std::size_t capacity)
    {
        current.resize(capacity);
        fresh.resize(capacity);
    }

    // The name now means the new arrays; only then do the old ones go, one by one, as an interpreter's list would.
    void rebind(std::size_t count) noexcept
    {
        const std::size_t old = in_use;
        current.swap(fresh);
        in_use = count;
        for (std::size_t i = 0; i < old; ++i) {
            fresh[i] = array::Array{};
        }
    }

    void forget() noexcept
    {
        for (std::size_t i = 0; i < in_use; ++i) {
            current[i] = array::Array{};
        }
        in_use = 0;
    }

    // Pages touched for the first time, by whoever writes now; 0 when they have been written before.
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
    std::uint64_t bytes{};                                // 0: unknown
    std::uint64_t made{};                                 // arrays made before it that no name has yet
};

class NamedArrays {
  public:
    NamedArrays(const RunRegion& region, CaseMemory& memory);

    [[nodiscard]] Handles& operator[](SlotIndex slot) { return handles_[slot]; }

    [[nodiscard]] Refusal execute(const Alloc& alloc);
    [[nodiscard]] Refusal execute(const model::Binary<SlotIndex>& binary);
    [[nodiscard]] Refusal execute(const model::View<SlotIndex>& view);
    void execute(const model::Write<SlotIndex>& write);
    void execute(const model::Read<SlotIndex>& read);
    void execute(const model::Free<SlotIndex>& free);
    void execute(const model::Release<SlotIndex>& release);
    void execute(const model::Drop<SlotIndex>& drop);

    // Adds the pages of the arrays to those touched, unless they have been written before.
    void count_first_touch(Handles& handles) { record_.pages_touched += handles.first_touch(page_bytes_); }

    // Made by the repetition so far; add() counts those that others have made.
    [[nodiscard]] std::uint64_t made() const { return made_; }
    void add(std::uint64_t made) { made_ += made; }

    void report_broken_poison() { accesses_.report_broken_poison(); }

    template <typename Visit>
    void each(const Visit& visit) const
    {
        for (const Handles& handles : handles_) {
            for (std::size_t i = 0; i < handles.in_use; ++i) {
                visit(handles.current[i]);
            }
        }
    }

  private:
    void rebind(Handles& handles, std::size_t count);

    CaseMemory& memory_;
    RepetitionRecord& record_;
    Accesses accesses_;
    std::uint64_t page_bytes_{sys::page_size()};
    std::vector<Handles> handles_;
    std::uint64_t made_{};
};

}  // namespace memsweep::engine
