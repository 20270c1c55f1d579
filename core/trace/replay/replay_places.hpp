// Where a replay keeps its blocks: a slot for each that is live at once in a thread, and the cells between threads.
//
// Memory   mapped once for a program; pages come with the first use. Handles only where blocks have them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "core/lifetime/heap.hpp"
#include "core/memory/lazy_array.hpp"
#include "core/trace/replay/replay_program.hpp"

namespace memsweep::trace {

// Handles in a mapping of their own: the malloc that is measured knows nothing of them.
class HandleArray {
  public:
    explicit HandleArray(std::size_t count)
        : bytes_{std::max<std::size_t>(count, 1) * sizeof(lifetime::Buffer)},
          handles_{reinterpret_cast<lifetime::Buffer*>(&bytes_[0])}, count_{count}
    {
        std::uninitialized_value_construct_n(handles_, count_);
    }
    HandleArray(const HandleArray&) = delete;
    HandleArray& operator=(const HandleArray&) = delete;
    ~HandleArray() { std::destroy_n(handles_, count_); }
    [[nodiscard]] lifetime::Buffer* data() const noexcept { return handles_; }

  private:
    memory::LazyArray<std::byte> bytes_;
    lifetime::Buffer* handles_;
    std::size_t count_;
};

struct ReplayPlaces {
    explicit ReplayPlaces(const ReplayProgram& program)
        : first_slot{first_slots(program)}, slots{std::max<std::size_t>(first_slot.back(), 1)},
          cells{std::max<std::size_t>(program.header->cells, 1)}
    {
    }
    void make_handles()
    {
        if (!handles) {
            handles.emplace(slots.size());
            handles_beside.emplace(cells.size());
        }
    }

    // Offsets of every thread's slots in one array. Threads write to their own cache lines.
    static std::vector<std::uint64_t> first_slots(const ReplayProgram& program)
    {
        std::vector<std::uint64_t> first{0};
        for (const ReplayThread& thread : program.threads) {
            first.push_back(first.back() + (thread.slots + 15) / 8 * 8);
        }
        return first;
    }

    std::vector<std::uint64_t> first_slot;
    memory::LazyArray<void*> slots;
    memory::LazyArray<std::atomic<void*>> cells;
    std::optional<HandleArray> handles;         // where blocks have handles, these stand for `slots`
    std::optional<HandleArray> handles_beside;  // of cells
};

}  // namespace memsweep::trace
